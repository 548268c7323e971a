// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.member;

import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Which storage nodes are on cordoned Kubernetes nodes, or on NPUs that are not well, or are to be empty as a user asked, and so shall not stay
 * there with what they hold. Pure.
 */
public final class Cordons {
    private Cordons() {}

    /**
     * By the storage node's id.
     *
     * @param drainTaints keys of taints that mean the same as a cordon
     * @param requested UIDs of pods that are to be empty, by the storage node's id
     */
    public static Map<String, Cordon> of(
            PoolObservation seen, List<String> drainTaints, Map<String, String> requested) {
        Map<String, String> taints = new TreeMap<>();
        for (ObservedNode node : seen.nodes()) {
            Optional<String> taint = node.taint(drainTaints);
            if (node.cordoned() || taint.isPresent()) {
                taints.put(node.name(), node.cordoned() ? "" : taint.get());
            }
        }
        Map<String, Cordon> cordons = new TreeMap<>();
        seen.pods(PoolLabels.ROLE_STORAGE).stream()
                .filter(pod -> taints.containsKey(pod.node()))
                .forEach(pod -> cordons.put(
                        pod.nodeId(),
                        new Cordon(pod.node(), taints.get(pod.node()), !pod.perNode(), Members.outlives(pod, seen))));
        seen.pods(PoolLabels.ROLE_STORAGE)
                .forEach(pod -> seen.sickNpus(pod)
                        .ifPresent(sick -> cordons.putIfAbsent(pod.nodeId(), Cordon.ofNpus(pod.node(), sick))));
        seen.pods(PoolLabels.ROLE_STORAGE).stream()
                .filter(pod -> requested.containsKey(pod.nodeId())
                        && requested.get(pod.nodeId()).equals(pod.uid()))
                .forEach(pod -> cordons.compute(
                        pod.nodeId(),
                        (id, other) -> other == null ? Cordon.ofRequest(pod.node()) : other.andRequest()));
        return cordons;
    }
}
