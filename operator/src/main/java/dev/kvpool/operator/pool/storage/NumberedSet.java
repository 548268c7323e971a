// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.storage;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntFunction;

/**
 * What is done now about a storage set with a number of nodes. Growing is always done. Shrinking ends the memory of
 * pods, and waits until they are empty. Pure.
 *
 * @param replicas nodes it has now
 * @param nodeIds their ids
 * @param unwanted its storage nodes that the spec has no place for, those that go first in front
 * @param waiting sentences about what is not done before storage nodes are empty
 */
public record NumberedSet(int replicas, List<String> nodeIds, List<Unwanted> unwanted, List<String> waiting) {

    /**
     * Decides.
     *
     * @param released ids of storage nodes that may go
     */
    static NumberedSet of(StorageSetSpec set, PoolObservation seen, Set<String> released) {
        Optional<StatefulSet> current = seen.storageWorkloads(StatefulSet.class).stream()
                .filter(candidate -> PoolObservation.setName(candidate).equals(set.name()))
                .findFirst();
        int want = seen.spec().replicas(set);
        int have = current.map(NumberedSet::replicasOf).orElse(0);
        List<ObservedPod> pods = seen.podsOfSet(set.name(), false);
        boolean outlivesPods = current.filter(NumberedSet::outlivesPods).isPresent();
        List<Unwanted> unwanted =
                unwanted(pods, want, outlivesPods ? have : 0, id -> seen.names().storagePod(set.name(), id));
        List<Unwanted> staying = unwanted.stream()
                .filter(node -> ordinal(node.id()) < have && !released.contains(node.id()))
                .toList();
        // Kubernetes takes away the last pod first.
        int replicas = staying.isEmpty() ? want : ordinal(staying.getFirst().id()) + 1;
        return new NumberedSet(
                replicas,
                seen.names().storagePods(set, replicas),
                unwanted,
                staying.isEmpty() ? List.of() : List.of(waiting(set, replicas, want, staying)));
    }

    /**
     * Storage nodes from a number on, the last one first.
     *
     * @param claimed how many have a volume that outlives their pods, so that they count also without a pod
     */
    static List<Unwanted> unwanted(List<ObservedPod> pods, int from, int claimed, IntFunction<String> id) {
        Map<Integer, ObservedPod> byOrdinal = new TreeMap<>(Comparator.reverseOrder());
        pods.stream().filter(pod -> pod.ordinal() >= from).forEach(pod -> byOrdinal.put(pod.ordinal(), pod));
        Set<Integer> ordinals = new TreeSet<>(Comparator.reverseOrder());
        ordinals.addAll(byOrdinal.keySet());
        for (int ordinal = from; ordinal < claimed; ordinal++) {
            ordinals.add(ordinal);
        }
        List<Unwanted> unwanted = new ArrayList<>();
        for (int ordinal : ordinals) {
            unwanted.add(new Unwanted(id.apply(ordinal), Optional.ofNullable(byOrdinal.get(ordinal)), claimed > 0));
        }
        return unwanted;
    }

    private static int ordinal(String id) {
        return Integer.parseInt(id.substring(id.lastIndexOf('-') + 1));
    }

    public static int replicasOf(StatefulSet set) {
        return set.getSpec().getReplicas() == null ? 0 : set.getSpec().getReplicas();
    }

    /** What its nodes hold is still there when their pods have been replaced. */
    static boolean outlivesPods(StatefulSet set) {
        return !set.getSpec().getVolumeClaimTemplates().isEmpty();
    }

    private static String waiting(StorageSetSpec set, int replicas, int want, List<Unwanted> staying) {
        return "Storage set %s keeps %d nodes instead of %d until %s %s empty.%s"
                .formatted(
                        set.name(),
                        replicas,
                        want,
                        NameList.of(staying.stream().map(Unwanted::id).sorted().toList()),
                        staying.size() == 1 ? "is" : "are",
                        Unwanted.remedy(staying));
    }
}
