// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.StorageSetSpec;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What is done now about a storage set with a number of nodes. Growing is always done. Shrinking ends the memory of
 * pods, and waits until they are empty. Pure.
 *
 * @param replicas nodes it has now
 * @param nodeIds their ids
 * @param renewal what is done about pods with earlier settings
 * @param unwanted its pods that the spec has no place for, those that go first in front
 * @param waiting sentences about what is not done before storage nodes are empty
 */
record NumberedSet(
        int replicas, List<String> nodeIds, Renewal renewal, List<ObservedPod> unwanted, List<String> waiting) {

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
        List<ObservedPod> unwanted = pods.stream()
                .filter(pod -> pod.ordinal() >= want)
                .sorted(Comparator.comparingInt(ObservedPod::ordinal).reversed())
                .toList();
        List<ObservedPod> staying = unwanted.stream()
                .filter(pod -> pod.ordinal() < have && !released.contains(pod.nodeId()))
                .toList();
        // Kubernetes takes away the last pod first.
        int replicas = staying.isEmpty() ? want : staying.getFirst().ordinal() + 1;
        boolean outlivesPods = current.filter(NumberedSet::outlivesPods).isPresent();
        return new NumberedSet(
                replicas,
                seen.names().storagePods(set, replicas),
                Renewal.of(Outdated.of(pods, current), outlivesPods, seen, released),
                unwanted,
                staying.isEmpty() ? List.of() : List.of(waiting(set, replicas, want, staying)));
    }

    static int replicasOf(StatefulSet set) {
        return set.getSpec().getReplicas() == null ? 0 : set.getSpec().getReplicas();
    }

    /** What its nodes hold is still there when their pods have been replaced. */
    static boolean outlivesPods(StatefulSet set) {
        return !set.getSpec().getVolumeClaimTemplates().isEmpty();
    }

    private static String waiting(StorageSetSpec set, int replicas, int want, List<ObservedPod> staying) {
        return "Storage set %s keeps %d nodes instead of %d until %s %s empty."
                .formatted(set.name(), replicas, want, BytesAtStake.names(staying), staying.size() == 1 ? "is" : "are");
    }
}
