// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.status.PodSizing;
import dev.kvpool.api.v1alpha1.status.SizingStatus;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Pods for which Kubernetes finds no node with enough memory: how much they take, of what it consists, and how much the
 * largest node has. Kubernetes itself says neither of that. Pure.
 */
public final class LackOfMemory {
    private static final String SCHEDULER_SAYS = "Insufficient memory";

    private LackOfMemory() {}

    /** True for a pod that waits for a node with room. */
    public static boolean concerns(ObservedPod pod) {
        return pod.node().isEmpty() && pod.trouble().contains(SCHEDULER_SAYS);
    }

    /**
     * A sentence for each kind of pods that waits, with a blank before it; empty when none does.
     *
     * @param pods of the pool
     * @param nodes of the whole cluster
     * @param sizing of the pool
     */
    static String sentences(List<ObservedPod> pods, List<ObservedNode> nodes, SizingStatus sizing) {
        long largest = nodes.stream().mapToLong(ObservedNode::memoryBytes).max().orElse(0);
        Set<String> waiting = pods.stream()
                .filter(LackOfMemory::concerns)
                .map(LackOfMemory::kind)
                .collect(Collectors.toCollection(TreeSet::new));
        return largest == 0
                ? ""
                : sizing.pods().stream()
                        .filter(kind -> waiting.contains(kind.name()))
                        .limit(PodTroubles.PODS_MAX)
                        .map(kind -> sentence(kind, largest))
                        .collect(Collectors.joining());
    }

    private static String kind(ObservedPod pod) {
        return pod.role().equals(PoolLabels.ROLE_MASTER) ? PoolLabels.ROLE_MASTER : pod.set();
    }

    private static String sentence(PodSizing kind, long largest) {
        String whose = kind.name().equals(PoolLabels.ROLE_MASTER)
                ? "A master"
                : "A storage node of set %s".formatted(kind.name());
        String what = " %s may take %s of memory (%s)".formatted(whose, kind.memory(), kind.sum());
        return ByteAmount.bytes(kind.memory()) > largest
                ? "%s, and the largest Kubernetes node has %s for pods. Request less, or add a larger node."
                        .formatted(what, ByteAmount.coarse(largest))
                : "%s; the largest Kubernetes node has %s, too much of which other pods have requested."
                        .formatted(what, ByteAmount.coarse(largest));
    }
}
