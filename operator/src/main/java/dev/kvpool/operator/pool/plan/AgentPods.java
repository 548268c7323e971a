// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.operator.pool.child.AgentDaemonSet;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.observation.TemplateNotes;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** Agents, which Kubernetes replaces by itself, a few at a time, when their template changes. Pure. */
public final class AgentPods {
    private AgentPods() {}

    /**
     * Whether that is under way, or has not gone well: a pod has been removed and its successor is not there yet, or is not ready, or one is of
     * the earlier template. Where no agent can run now, none is waited for.
     */
    public static boolean areReplaced(PoolObservation seen) {
        Set<String> lost = seen.lostNodes();
        List<ObservedPod> pods = seen.pods(PoolLabels.ROLE_AGENT);
        return seen.children().stream()
                .filter(AgentDaemonSet::is)
                .anyMatch(agents -> pods.size() < wanted((DaemonSet) agents)
                        || TemplateNotes.of(agents)
                                .filter(notes -> !notes.settings().isEmpty())
                                .filter(notes -> pods.stream()
                                        .filter(pod -> !lost.contains(pod.node()) && !pod.isWithoutNode())
                                        .anyMatch(pod -> !pod.ready() || notes.differsFrom(pod)))
                                .isPresent());
    }

    private static int wanted(DaemonSet agents) {
        return agents.getStatus() == null
                ? 0
                : Objects.requireNonNullElse(agents.getStatus().getDesiredNumberScheduled(), 0);
    }
}
