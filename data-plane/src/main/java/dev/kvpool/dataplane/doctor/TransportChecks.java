// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.doctor.NodeAnswer.Way;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Answers "why tcp?": for the storage nodes on this machine why shared memory is not used, for the others what ucx lacks. */
final class TransportChecks {
    private static final String SHARED = "shared memory of nodes";

    private TransportChecks() {}

    /** @param bootId of this machine; empty when it could not be read */
    static List<CheckResult> judge(List<NodeAnswer> answers, String bootId, UcxLibrary ucx) {
        List<CheckResult> findings = new ArrayList<>();
        if (!answers.isEmpty()) {
            sharedMemory(answers, bootId, findings);
        }
        findings.add(ucx(ucx));
        return findings;
    }

    private static void sharedMemory(List<NodeAnswer> answers, String bootId, List<CheckResult> findings) {
        List<NodeAnswer> without = answers.stream()
                .filter(it -> it.node().sharedMemory().isEmpty())
                .toList();
        if (!without.isEmpty()) {
            findings.add(CheckResult.warning(
                    SHARED,
                    "%d of %d offer none, so clients on their machines use tcp as well: %s"
                            .formatted(
                                    without.size(),
                                    answers.size(),
                                    Names.of(without, it -> it.node().id())),
                    "fine when they are to; else name shm among the protocols of the nodes (of a pool: in its"
                            + " TransferEngine)"));
        }
        List<NodeAnswer> tried = answers.stream()
                .filter(it -> it.sharedMemory().way() != Way.NOT_TRIED)
                .toList();
        Map<Way, List<NodeAnswer>> here = tried.stream()
                .filter(it -> it.sharedMemory().way() == Way.OPEN || it.tcp().way() == Way.OPEN) // else it is just gone
                .collect(Collectors.groupingBy(
                        it -> it.sharedMemory().way(), () -> new EnumMap<>(Way.class), Collectors.toList()));
        if (tried.isEmpty() && without.size() < answers.size()) {
            findings.add(CheckResult.ok(
                    SHARED,
                    bootId.isEmpty()
                            ? "not looked at: this machine does not tell its boot id, so clients here use tcp"
                            : "none of the nodes that offer it is on this machine, so clients here use tcp or ucx"));
        }
        here.forEach((way, nodes) -> findings.add(local(way, nodes, bootId)));
    }

    private static CheckResult local(Way way, List<NodeAnswer> nodes, String bootId) {
        if (way == Way.OPEN) {
            return CheckResult.ok(
                    SHARED,
                    "used with " + Names.of(nodes, it -> it.node().id())
                            + " on this machine, whose sockets answer here");
        }
        String shown = Names.of(
                nodes,
                it -> it.node().id() + " at "
                        + it.node().socketOn(bootId).orElseThrow()
                        + (it.sharedMemory().cause().isEmpty()
                                ? ""
                                : " (" + it.sharedMemory().cause() + ")"));
        return CheckResult.warning(
                SHARED, "on this machine, and used by tcp all the same, as " + what(way) + ": " + shown, remedy(way));
    }

    private static String what(Way way) {
        return switch (way) {
            case MISSING -> "the node's socket does not exist here";
            case FORBIDDEN -> "this user may not open the node's socket";
            case REFUSED -> "the node's socket is left over: no process listens there";
            case SOMEBODY_ELSE -> "another process has the node's socket here";
            case TURNED_AWAY -> "the node refuses a client of this version";
            case OPEN, NOT_TRIED, UNKNOWN_NAME, SILENT -> "the node's socket does not answer";
        };
    }

    private static String remedy(Way way) {
        return switch (way) {
            case MISSING, SOMEBODY_ELSE ->
                "containers have files of their own: mount the node's data directory at the same path here, or go through an"
                        + " agent on this machine (kvpool agent, setup_dummy)";
            case FORBIDDEN -> "run as the node's user, or with its group; or go through an agent on this machine";
            case TURNED_AWAY -> "use the kvpool of the pool's version here, or upgrade the pool";
            case REFUSED, OPEN, NOT_TRIED, UNKNOWN_NAME, SILENT ->
                "look whether the node has just restarted, and ask again; else restart it";
        };
    }

    private static CheckResult ucx(UcxLibrary ucx) {
        if (ucx.problem().isEmpty()) {
            return CheckResult.ok(
                    "ucx",
                    ucx.file() + " can be loaded; it is used with nodes that serve ucx when the client names it");
        }
        return new CheckResult(
                CheckResult.Level.OK,
                "ucx",
                "clients here cannot use it: " + ucx.problem(),
                "nothing to do where tcp is to be used; else install UCX 1.10 or newer (Debian: apt-get install libucx0),"
                        + " or name its file in KVPOOL_UCX_LIBRARY");
    }
}
