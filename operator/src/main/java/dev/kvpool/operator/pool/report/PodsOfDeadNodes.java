// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Pods that are to go and cannot, since their node does not answer. Kubernetes recreates a pod of a StatefulSet only when it is sure that
 * the old one has ended, and of a dead machine only a person can be. Pure.
 */
final class PodsOfDeadNodes {
    private PodsOfDeadNodes() {}

    /**
     * A sentence for each node with such pods, with a blank before it; empty when there is none.
     *
     * @param pods of the pool
     */
    static String sentences(List<ObservedPod> pods, PoolObservation seen) {
        Set<String> dead = seen.lostNodes();
        return pods.stream()
                .filter(pod -> dead.contains(pod.node()) && isOverdue(pod, seen))
                .collect(Collectors.groupingBy(ObservedPod::node))
                .entrySet()
                .stream()
                .sorted(Comparator.comparing(node -> node.getKey()))
                .limit(PodTroubles.PODS_MAX)
                .map(node -> sentence(node.getKey(), node.getValue()))
                .collect(Collectors.joining());
    }

    private static boolean isOverdue(ObservedPod pod, PoolObservation seen) {
        return pod.health().goneBy().filter(by -> by.isBefore(seen.now())).isPresent();
    }

    private static String sentence(String node, List<ObservedPod> pods) {
        return (" Kubernetes node %1$s is not ready, so Kubernetes waits for it to confirm that %2$s ended, and recreates"
                                + " no pod elsewhere. If the machine is certainly off: kubectl taint node %1$s"
                                + " node.kubernetes.io/out-of-service=nodeshutdown:NoExecute")
                        .formatted(
                                node,
                                NameList.of(pods.stream()
                                        .map(ObservedPod::name)
                                        .sorted()
                                        .toList()))
                + ".";
    }
}
