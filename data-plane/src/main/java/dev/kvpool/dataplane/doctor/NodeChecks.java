// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.doctor.NodeAnswer.Way;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Judges whether a client here gets to the storage nodes at all; nodes with the same trouble make one finding. */
final class NodeChecks {
    private static final String SUBJECT = "storage nodes";

    private NodeChecks() {}

    static List<CheckResult> judge(PoolMap pool, List<NodeAnswer> answers) {
        List<CheckResult> findings = new ArrayList<>();
        absent(pool, findings);
        List<NodeAnswer> open =
                answers.stream().filter(it -> it.tcp().way() == Way.OPEN).toList();
        if (!open.isEmpty()) {
            Duration slowest = open.stream()
                    .map(it -> it.tcp().took())
                    .max(Comparator.naturalOrder())
                    .orElseThrow();
            findings.add(CheckResult.ok(
                    SUBJECT,
                    "%d of %d answered at their data ports, the slowest after %d ms"
                            .formatted(open.size(), answers.size(), slowest.toMillis())));
        }
        byWay(answers)
                .forEach((way, nodes) -> findings.add(CheckResult.problem(
                        SUBJECT,
                        "%d of %d %s: %s"
                                .formatted(nodes.size(), answers.size(), what(way), Names.of(nodes, NodeChecks::shown)),
                        remedy(way))));
        return findings;
    }

    private static void absent(PoolMap pool, List<CheckResult> findings) {
        List<StorageNode> absent =
                pool.nodes().stream().filter(node -> !node.isThere()).toList();
        if (pool.nodes().isEmpty()) {
            findings.add(CheckResult.problem(
                    SUBJECT, "the leader knows of none", "start some, with --masters naming the masters of this pool"));
        } else if (!absent.isEmpty()) {
            findings.add(CheckResult.warning(
                    SUBJECT,
                    "%d of %d are not with the leader: %s"
                            .formatted(
                                    absent.size(),
                                    pool.nodes().size(),
                                    Names.of(
                                            absent,
                                            node -> node.id() + " (" + node.state() + ": " + node.reason() + ")")),
                    "look whether they run and what their logs say; what only they hold cannot be read meanwhile"));
        }
    }

    private static Map<Way, List<NodeAnswer>> byWay(List<NodeAnswer> answers) {
        return answers.stream()
                .filter(it -> it.tcp().way() != Way.OPEN)
                .collect(Collectors.groupingBy(
                        it -> it.tcp().way(), () -> new EnumMap<>(Way.class), Collectors.toList()));
    }

    private static String shown(NodeAnswer answer) {
        return Stream.of(
                        answer.node().id(),
                        "at",
                        answer.node().address(),
                        "(" + answer.tcp().cause() + ")")
                .collect(Collectors.joining(" "));
    }

    private static String what(Way way) {
        return switch (way) {
            case OPEN, NOT_TRIED -> "answered";
            case UNKNOWN_NAME -> "have an address that is not known here";
            case MISSING, REFUSED -> "are refused by the machine they should be on";
            case FORBIDDEN -> "may not be dialled from here";
            case SILENT -> "do not answer";
            case SOMEBODY_ELSE -> "have an address where something else answers";
            case TURNED_AWAY -> "refuse a client of this version";
        };
    }

    private static String remedy(Way way) {
        return switch (way) {
            case OPEN, NOT_TRIED -> "";
            case UNKNOWN_NAME ->
                "the names of pods are known in their cluster only: run clients there, or give nodes an --advertise-host"
                        + " that clients can resolve";
            case MISSING, REFUSED ->
                "look whether the node still runs, and whether its --advertise-host and port are where clients reach it";
            case FORBIDDEN -> "look for a firewall of this machine or container that forbids it (iptables, seccomp)";
            case SILENT ->
                "something drops what goes there: open the data ports to clients in firewalls and NetworkPolicies (of a"
                        + " pool: spec.networkPolicy.clientNamespaces), or give nodes an --advertise-host that has a route"
                        + " from here";
            case SOMEBODY_ELSE ->
                "the address does not lead to the node from here: addresses of another network, a NAT or a proxy in"
                        + " between, or a node that has just restarted (then ask again)";
            case TURNED_AWAY -> "use the kvpool of the pool's version here, or upgrade the pool";
        };
    }
}
