// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.member;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A storage node is on a Kubernetes node that is cordoned, or has a taint that counts as that, or its NPU there is not well, or a user asked
 * that it be empty there: it shall not stay there with what it holds.
 *
 * @param host that node's name
 * @param how what that node is, or has, or is to have
 * @param remedy how to be rid of the cause
 * @param requested whether nothing but a user's request is the cause
 * @param evicts whether Kubernetes evicts its pod from there, and so a person waits: those of DaemonSets stay
 * @param keeps whether what it holds is there again when its pod is
 * @param admits whether the storage node's next pod may come there: a DaemonSet's goes to a cordoned node, but not beside a taint
 */
public record Cordon(
        String host, String how, String remedy, boolean requested, boolean evicts, boolean keeps, boolean admits) {
    /**
     * All of a pool, by the storage node's id.
     *
     * @param drainTaints keys of taints that mean the same as a cordon
     * @param requested UIDs of pods that are to be empty, by the storage node's id
     */
    public static Map<String, Cordon> all(
            PoolObservation seen, List<String> drainTaints, Map<String, String> requested) {
        Map<String, String> taints = new TreeMap<>();
        for (ObservedNode node : seen.nodes()) {
            Optional<String> taint =
                    node.taint(drainTaints).or(() -> node.cordoned() ? Optional.of("") : Optional.empty());
            taint.ifPresent(key -> taints.put(node.name(), key));
        }
        Map<String, Cordon> cordons = new TreeMap<>();
        for (ObservedPod pod : seen.pods(PoolLabels.ROLE_STORAGE)) {
            if (taints.containsKey(pod.node())) {
                cordons.put(
                        pod.nodeId(),
                        of(pod.node(), taints.get(pod.node()), !pod.perNode(), Members.outlives(pod, seen)));
            }
            seen.sickNpus(pod).ifPresent(sick -> cordons.putIfAbsent(pod.nodeId(), ofNpus(pod.node(), sick)));
        }
        for (ObservedPod pod : seen.pods(PoolLabels.ROLE_STORAGE)) {
            if (requested.getOrDefault(pod.nodeId(), "").equals(pod.uid())) {
                cordons.merge(pod.nodeId(), ofRequest(pod.node()), (other, request) -> other.andRequest());
            }
        }
        return cordons;
    }

    /**
     * Of a Kubernetes node that is cordoned, or tainted. A cordon ends, and what stayed there is found again; a taint says that the machine
     * goes, maybe with the disk below a volume.
     *
     * @param taint key of that taint; empty where the node is cordoned
     * @param outlives whether what the storage node holds outlives its pod
     */
    public static Cordon of(String host, String taint, boolean evicts, boolean outlives) {
        boolean cordoned = taint.isEmpty();
        return new Cordon(
                host,
                cordoned ? "is cordoned" : "has taint " + taint,
                cordoned ? "uncordon the node" : "remove taint %s from the node".formatted(taint),
                false,
                evicts,
                cordoned && outlives,
                cordoned && !evicts);
    }

    /**
     * Of a storage node whose NPUs are not well. No person waits for its pod to go, and what its volume keeps is out of reach as
     * well, so all of it is moved.
     *
     * @param sick as "NPU 3, which is unhealthy"
     */
    private static Cordon ofNpus(String host, String sick) {
        return new Cordon(host, "has " + sick, "repair the NPU", false, false, false, true);
    }

    /** Of a storage node that a user wants empty, for example as its Kubernetes node goes for good. No person waits for its pod to go. */
    public static Cordon ofRequest(String host) {
        return new Cordon(
                host,
                "is to have nothing of it, as a user asked",
                "take the request back with kubectl kvpool drain and --cancel",
                true,
                false,
                false,
                true);
    }

    /** The same of a storage node that a user wants empty, whatever comes back with its pod. */
    private Cordon andRequest() {
        return new Cordon(host, how, remedy, requested, evicts, false, admits);
    }

    /** What a pod that is not evicted keeps on its Kubernetes node is still there after the maintenance. */
    public boolean empties() {
        return evicts || !keeps;
    }

    /** Why the storage node is emptied. */
    public StepCause because() {
        return requested ? StepCause.REQUEST : StepCause.CORDON;
    }
}
