// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.operator.master.PoolReport;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which masters know what the leader knows. A master is ready also while a storage node has not come to it, for the pool must not
 * wait for a node that is gone; but leadership is not handed to one that would have to wait for what the leader has in view.
 */
final class WarmMasters {
    private final RollView view;

    WarmMasters(RollView view) {
        this.view = view;
    }

    /** What the master in this pod lacks, as the end of a sentence; empty when it lacks nothing, and when nobody leads. */
    Optional<String> lack(String pod) {
        Set<String> known = view.reports().stream()
                .filter(report -> report.name().equals(pod))
                .flatMap(report -> report.nodes().stream())
                .filter(PoolReport.Node::serves)
                .map(PoolReport.Node::id)
                .collect(Collectors.toSet());
        return view.leads(pod)
                ? Optional.empty()
                : view.leader().stream()
                        .flatMap(report -> report.nodes().stream())
                        .filter(node -> node.serves() && !node.isTransient() && !known.contains(node.id()))
                        .map(node -> "has not read the directory of storage node %s, which the leader knows"
                                .formatted(node.id()))
                        .findFirst();
    }

    /** The first master that lacks something, and what, as a part of a sentence. Whose machine is dead takes no leadership. */
    Optional<String> lack() {
        return view.masters().stream()
                .filter(master -> !master.isGone())
                .map(Instance::pod)
                .flatMap(pod -> lack(pod).map(what -> "master " + pod + " " + what).stream())
                .findFirst();
    }
}
