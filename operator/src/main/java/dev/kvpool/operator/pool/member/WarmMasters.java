// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.member;

import dev.kvpool.operator.master.PoolReport;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which masters know what the leader knows. A master is ready also while a storage node has not come to it, for the pool must not
 * wait for a node that is gone; but leadership is not handed to one that would have to wait for what the leader has in view.
 */
public final class WarmMasters {
    private final Members members;

    public WarmMasters(Members members) {
        this.members = members;
    }

    /** What the master in this pod lacks, as the end of a sentence; empty when it lacks nothing, and when none leads. */
    public Optional<String> lack(String pod) {
        Set<String> known = members.reports().stream()
                .filter(report -> report.name().equals(pod))
                .flatMap(report -> report.nodes().stream())
                .filter(PoolReport.Node::serves)
                .map(PoolReport.Node::id)
                .collect(Collectors.toSet());
        return members.leads(pod)
                ? Optional.empty()
                : members.leader().stream()
                        .flatMap(report -> report.nodes().stream())
                        .filter(node -> node.serves() && !node.isTransient() && !known.contains(node.id()))
                        .map(node -> "has not read the directory of storage node %s, which the leader knows"
                                .formatted(node.id()))
                        .findFirst();
    }

    /** The first master that lacks something, and what, as a part of a sentence. One whose Kubernetes node is lost takes no leadership. */
    public Optional<String> lack() {
        return members.masters().stream()
                .filter(master -> !master.isGone())
                .map(Member::pod)
                .flatMap(pod -> lack(pod).map(what -> "master " + pod + " " + what).stream())
                .findFirst();
    }
}
