// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.config.Sizes;
import dev.kvpool.dataplane.doctor.Machine.HugePages;
import dev.kvpool.dataplane.doctor.Machine.PortRange;
import dev.kvpool.dataplane.machine.MemoryRoom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Judges a machine by what is to run there. */
final class MachineChecks {
    /** A storage node serves up to 4096 connections and needs files besides. */
    private static final long OPEN_FILES_WANTED = 8192;

    private MachineChecks() {}

    /**
     * All findings about the machine itself, in the order to be shown.
     *
     * @param segmentBytes the segment that is to be there; 0 when unknown
     * @param ports the ports kvpool is to listen on
     */
    static List<CheckResult> judge(Machine machine, long segmentBytes, List<Integer> ports) {
        List<CheckResult> findings = new ArrayList<>();
        findings.add(room(machine, segmentBytes));
        findings.add(lockedMemory(machine, segmentBytes));
        findings.add(hugePages(machine.hugePages(), segmentBytes));
        findings.add(openFiles(machine));
        ephemeralPorts(machine, ports).ifPresent(findings::add);
        return findings;
    }

    private static CheckResult room(Machine machine, long segmentBytes) {
        String subject = "shared memory";
        if (machine.room().isEmpty()) {
            return CheckResult.problem(
                    subject,
                    machine.directory() + " cannot be read",
                    "create it on tmpfs (mount -t tmpfs), or name another one by --data-dir");
        }
        MemoryRoom room = machine.room().get();
        if (!room.inMemory()) {
            return CheckResult.problem(
                    subject,
                    machine.directory() + " is on a disk, where a segment would be as slow as the disk",
                    "use a directory on tmpfs such as /dev/shm; in a pod an emptyDir with medium: Memory");
        }
        return room.problem(segmentBytes, "a segment in " + machine.directory())
                .map(sentence -> CheckResult.problem(
                        subject,
                        sentence,
                        "make the segment smaller (--segment-size), or give more: mount -o remount,size=...; in a pod"
                                + " sizeLimit of the emptyDir and the memory limit"))
                .orElseGet(() -> CheckResult.ok(
                        subject,
                        machine.directory() + " has room for " + Sizes.about(room.bytes()) + " (limit: "
                                + room.limitedBy() + ")"));
    }

    /** Only transports that register memory with a device lock it; tcp and shared memory do not. */
    private static CheckResult lockedMemory(Machine machine, long segmentBytes) {
        String subject = "locked memory";
        if (machine.lockedBytesMax().isEmpty()) {
            return CheckResult.warning(subject, "the limit cannot be read", "run it where /proc is mounted");
        }
        long limit = machine.lockedBytesMax().getAsLong();
        if (limit == Long.MAX_VALUE) {
            return CheckResult.ok(subject, "no limit");
        }
        String found = "at most " + Sizes.about(limit) + " may be locked"
                + (segmentBytes > limit ? ", the segment has " + Sizes.about(segmentBytes) : "");
        return CheckResult.warning(
                subject,
                found,
                "nothing for tcp and shared memory; RDMA and Ascend register whole segments and need ulimit -l unlimited,"
                        + " LimitMEMLOCK=infinity for the container runtime, or the capability IPC_LOCK");
    }

    private static CheckResult hugePages(List<HugePages> pools, long segmentBytes) {
        String subject = "huge pages";
        List<HugePages> reserved =
                pools.stream().filter(pool -> pool.total() > 0).toList();
        if (reserved.isEmpty()) {
            return CheckResult.ok(
                    subject,
                    pools.isEmpty()
                            ? "this kernel has none"
                            : "none are set aside; nothing needs them unless asked for");
        }
        String found = reserved.stream()
                .map(pool -> pool.free() + " of " + pool.total() + " pages of " + Sizes.format(pool.pageBytes())
                        + " are free")
                .collect(Collectors.joining(", "));
        boolean enough = reserved.stream().anyMatch(pool -> pool.free() * pool.pageBytes() >= segmentBytes);
        return enough
                ? CheckResult.ok(subject, found)
                : CheckResult.warning(
                        subject,
                        found + ", a segment of " + Sizes.about(segmentBytes) + " does not fit into them",
                        "raise vm.nr_hugepages before the memory is fragmented, best at boot (hugepages=N)");
    }

    private static CheckResult openFiles(Machine machine) {
        String subject = "open files";
        if (machine.openFilesMax().isEmpty()) {
            return CheckResult.warning(subject, "the limit cannot be read", "run it where /proc is mounted");
        }
        long limit = machine.openFilesMax().getAsLong();
        String found = limit == Long.MAX_VALUE ? "no limit" : limit + " at most";
        return limit >= OPEN_FILES_WANTED
                ? CheckResult.ok(subject, found)
                : CheckResult.warning(
                        subject,
                        found + ", a node with its 4096 connections wants " + OPEN_FILES_WANTED,
                        "ulimit -n " + OPEN_FILES_WANTED + ", or LimitNOFILE= for the container runtime");
    }

    /** An outgoing connection that happens to get a port of ours keeps kvpool from starting, now and then. */
    private static Optional<CheckResult> ephemeralPorts(Machine machine, List<Integer> ports) {
        String subject = "port range";
        if (machine.ephemeralPorts().isEmpty()) {
            return Optional.empty();
        }
        PortRange given = machine.ephemeralPorts().get();
        List<Integer> exposed = ports.stream()
                .filter(given::holds)
                .filter(port -> machine.reservedPorts().stream().noneMatch(range -> range.holds(port)))
                .toList();
        if (exposed.isEmpty()) {
            return Optional.of(CheckResult.ok(subject, "outgoing connections never get a port that kvpool listens on"));
        }
        String list = exposed.stream().map(String::valueOf).collect(Collectors.joining(","));
        return Optional.of(CheckResult.warning(
                subject,
                "outgoing connections get ports " + given + ", so one may hold " + list + " when kvpool starts",
                "on a host's network: sysctl -w net.ipv4.ip_local_reserved_ports=" + list
                        + "; a pod with a network of its own rarely meets it"));
    }
}
