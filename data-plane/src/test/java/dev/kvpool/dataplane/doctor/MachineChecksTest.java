// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.doctor.CheckResult.Level;
import dev.kvpool.dataplane.doctor.Machine.HugePages;
import dev.kvpool.dataplane.doctor.Machine.PortRange;
import dev.kvpool.dataplane.machine.MemoryRoom;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class MachineChecksTest {
    private static final long GIB = 1L << 30;
    private static final Machine GOOD = new Sketch().machine();

    @Test
    void aGoodMachineHasNothingToBeDone() {
        assertThat(MachineChecks.judge(GOOD, 4 * GIB, List.of(50051)))
                .hasSize(5)
                .allSatisfy(finding -> {
                    assertThat(finding.level()).isEqualTo(Level.OK);
                    assertThat(finding.remedy()).isEmpty();
                });
    }

    @Test
    void aSegmentWithoutRoomIsAProblemWithBothNumbers() {
        CheckResult found = only("shared memory", GOOD, 9 * GIB);

        assertThat(found.level()).isEqualTo(Level.PROBLEM);
        assertThat(found.found()).contains("9.0 GiB", "8.0 GiB", "the machine's memory");
        assertThat(found.remedy()).contains("--segment-size", "remount");
    }

    @Test
    void aSegmentOnADiskIsAProblem() {
        Sketch disk = new Sketch();
        disk.room = Optional.of(new MemoryRoom(800 * GIB, "the file system at /data", false));

        assertThat(only("shared memory", disk.machine(), GIB).level()).isEqualTo(Level.PROBLEM);
        assertThat(only("shared memory", disk.machine(), GIB).found()).contains("disk");
    }

    @Test
    void aDirectoryThatIsNotThereIsAProblem() {
        Sketch without = new Sketch();
        without.room = Optional.empty();

        CheckResult found = only("shared memory", without.machine(), GIB);

        assertThat(found.level()).isEqualTo(Level.PROBLEM);
        assertThat(found.remedy()).contains("--data-dir");
    }

    @Test
    void aLimitOfLockedMemoryIsNamedWithTheSegment() {
        Sketch limited = new Sketch();
        limited.lockedBytesMax = OptionalLong.of(8 << 20);

        CheckResult found = only("locked memory", limited.machine(), 4 * GIB);

        assertThat(found.level()).isEqualTo(Level.WARNING);
        assertThat(found.found()).contains("8.0 MiB", "4.0 GiB");
        assertThat(found.remedy()).contains("ulimit -l unlimited");
    }

    @Test
    void hugePagesThatDoNotHoldTheSegmentAreAWarning() {
        assertThat(only("huge pages", withHugePages(new HugePages(2L << 20, 512, 512)), GIB)
                        .level())
                .isEqualTo(Level.OK);
        assertThat(only("huge pages", withHugePages(new HugePages(2L << 20, 512, 511)), GIB))
                .satisfies(found -> assertThat(found.level()).isEqualTo(Level.WARNING))
                .satisfies(found -> assertThat(found.found()).contains("511 of 512 pages of 2MiB", "1.0 GiB"));
        assertThat(only("huge pages", withHugePages(new HugePages(2L << 20, 0, 0)), GIB)
                        .level())
                .isEqualTo(Level.OK);
    }

    @Test
    void tooFewOpenFilesAreAWarning() {
        Sketch limited = new Sketch();
        limited.openFilesMax = OptionalLong.of(1024);

        assertThat(only("open files", limited.machine(), GIB).level()).isEqualTo(Level.WARNING);
        assertThat(only("open files", limited.machine(), GIB).found()).contains("1024");
    }

    @Test
    void portsThatOutgoingConnectionsMayHoldAreNamedUnlessReserved() {
        Machine exposed = withPorts(new PortRange(32768, 60999), List.of(new PortRange(50061, 50061)));

        CheckResult found =
                MachineChecks.judge(exposed, 0, List.of(9003, 50051, 50061)).getLast();

        assertThat(found.level()).isEqualTo(Level.WARNING);
        assertThat(found.found()).contains("32768-60999", "50051").doesNotContain("9003", "50061");
        assertThat(found.remedy()).contains("ip_local_reserved_ports=50051");
        assertThat(MachineChecks.judge(exposed, 0, List.of(9003, 50061))
                        .getLast()
                        .level())
                .isEqualTo(Level.OK);
    }

    private static CheckResult only(String subject, Machine machine, long segmentBytes) {
        return MachineChecks.judge(machine, segmentBytes, List.of()).stream()
                .filter(finding -> finding.subject().equals(subject))
                .findFirst()
                .orElseThrow();
    }

    private static Machine withHugePages(HugePages pages) {
        Sketch sketch = new Sketch();
        sketch.hugePages = List.of(pages);
        return sketch.machine();
    }

    private static Machine withPorts(PortRange ephemeral, List<PortRange> reserved) {
        Sketch sketch = new Sketch();
        sketch.ephemeralPorts = ephemeral;
        sketch.reservedPorts = reserved;
        return sketch.machine();
    }

    /** A machine without fault; a test changes what it is about. */
    private static final class Sketch {
        OptionalLong lockedBytesMax = OptionalLong.of(Long.MAX_VALUE);
        OptionalLong openFilesMax = OptionalLong.of(1 << 20);
        List<HugePages> hugePages = List.of();
        PortRange ephemeralPorts = new PortRange(10000, 11000);
        List<PortRange> reservedPorts = List.of();
        Optional<MemoryRoom> room = Optional.of(new MemoryRoom(8 * GIB, "the machine's memory", true));

        Machine machine() {
            return new Machine(
                    lockedBytesMax,
                    openFilesMax,
                    hugePages,
                    Optional.of(ephemeralPorts),
                    reservedPorts,
                    Path.of("/dev/shm"),
                    room);
        }
    }
}
