// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.DrainPhase;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.operator.pool.drain.Cordon;
import dev.kvpool.operator.pool.drain.Departure;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.storage.StoragePlan;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Which storage nodes lie on cordoned nodes of the cluster, and so shall not stay there with what they hold. Pure. */
public final class Cordons {
    private final PoolObservation seen;

    /** By the node's name what {@link Cordon} says of it. */
    private final Map<String, String> taints = new TreeMap<>();

    /** Their pods, by id. */
    private final Map<String, ObservedPod> pods = new TreeMap<>();

    private Cordons(PoolObservation seen, List<String> drainTaints) {
        this.seen = seen;
        for (ObservedNode node : seen.nodes()) {
            Optional<String> taint = node.taint(drainTaints);
            if (node.cordoned() || taint.isPresent()) {
                taints.put(node.name(), node.cordoned() ? "" : taint.get());
            }
        }
        seen.pods(PoolLabels.ROLE_STORAGE).stream()
                .filter(pod -> taints.containsKey(pod.node()))
                .forEach(pod -> pods.put(pod.nodeId(), pod));
    }

    /**
     * All storage nodes that shall not stay where they are.
     *
     * @param unwanted those that the spec does not want
     * @param drainTaints keys of taints that mean the same as a cordon
     */
    public static List<Departure> join(List<Departure> unwanted, PoolObservation seen, List<String> drainTaints) {
        Cordons cordons = new Cordons(seen, drainTaints);
        List<Departure> all = new ArrayList<>();
        for (Departure departure : unwanted) {
            ObservedPod pod = cordons.pods.remove(departure.node());
            all.add(pod == null ? departure : departure.on(cordons.cordon(pod)));
        }
        for (ObservedPod pod : cordons.pods.values()) {
            Cordon cordon = cordons.cordon(pod);
            // What a pod that nobody evicts has on its node is still there after the node's maintenance.
            if (cordon.evicts() || !cordon.keeps()) {
                boolean holds = pod.started() && !pod.leaving();
                all.add(new Departure(pod.nodeId(), holds, true, Optional.of(cordon)));
            }
        }
        return all;
    }

    /** Ids of those on which somebody waits and whose turn has not come: an upgrade lets them pass. */
    public static List<String> emptiedFirst(List<Departure> departures, List<DrainStatus> status) {
        return departures.stream()
                .filter(departure -> departure.wanted()
                        && departure.holdsBytes()
                        && departure.cordon().filter(Cordon::evicts).isPresent())
                .map(Departure::node)
                .filter(node -> status.stream()
                        .filter(drain -> drain.node().equals(node))
                        .allMatch(drain -> drain.phase() == DrainPhase.WAITING))
                .toList();
    }

    private Cordon cordon(ObservedPod pod) {
        Class<? extends HasMetadata> kind = pod.perNode() ? DaemonSet.class : StatefulSet.class;
        boolean keeps = seen.storageWorkloads(kind).stream()
                .filter(workload -> PoolObservation.setName(workload).equals(pod.set()))
                .anyMatch(StoragePlan::outlivesPods);
        return new Cordon(pod.node(), taints.get(pod.node()), !pod.perNode(), keeps);
    }
}
