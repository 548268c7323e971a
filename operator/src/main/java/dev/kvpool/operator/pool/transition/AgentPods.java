// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.operator.pool.child.AgentDaemonSet;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.util.Set;
import java.util.stream.Collectors;

/** Agents, which Kubernetes replaces by itself, a few at a time, when their template changes. Pure. */
public final class AgentPods {
    private AgentPods() {}

    /** Whether that is under way, or has not gone well. Where no agent can run now, none is waited for. */
    public static boolean areReplaced(PoolObservation seen) {
        Set<String> lost = seen.nodes().stream()
                .filter(node -> !node.ready())
                .map(ObservedNode::name)
                .collect(Collectors.toSet());
        return seen.children().stream()
                .filter(AgentDaemonSet::is)
                .flatMap(agents -> Goals.note(PoolLabels.SETTINGS, agents).stream())
                .anyMatch(settings -> seen.pods(PoolLabels.ROLE_AGENT).stream()
                        .filter(pod -> !lost.contains(pod.node()) && !pod.isWithoutNode())
                        .anyMatch(pod -> !pod.ready() || !pod.settings().equals(settings)));
    }
}
