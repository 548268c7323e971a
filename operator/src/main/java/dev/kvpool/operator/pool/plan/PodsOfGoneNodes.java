// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Pods whose Node object is gone: a cloud provider, an autoscaler or a person has said that the machine is, so that no kubelet will ever
 * say that they ended. Kubernetes removes them after a minute; until then they count as members that are only away. Pure.
 */
final class PodsOfGoneNodes {
    /** The list of nodes may be a little older than that of pods: a new node can have pods before it is seen. */
    private static final Duration SEEN_BY_THEN = Duration.ofSeconds(30);

    private PodsOfGoneNodes() {}

    static List<ObservedPod> of(PoolObservation seen) {
        Set<String> nodes = seen.nodes().stream().map(ObservedNode::name).collect(Collectors.toSet());
        // No cluster is without nodes: then they have not been listed.
        if (nodes.isEmpty()) {
            return List.of();
        }
        return seen.pods().stream()
                .filter(pod -> !pod.node().isEmpty() && !nodes.contains(pod.node()))
                .filter(pod -> pod.runningSince()
                        .filter(since -> since.plus(SEEN_BY_THEN).isBefore(seen.now()))
                        .isPresent())
                .toList();
    }
}
