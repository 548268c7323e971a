// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.DataLossPolicy;
import dev.kvpool.api.v1alpha1.StorageSetSpec;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What is done now about a storage set with a number of nodes. Growing is always done. Shrinking ends the memory of
 * pods, and is done only where the spec allows that or the pods never ran. Pure.
 *
 * @param replicas nodes it has now
 * @param nodeIds their ids
 * @param replace pods to delete, so that they are made anew with the current settings
 * @param heldBack sentences about what is not done, because it would lose bytes
 */
record NumberedSet(int replicas, List<String> nodeIds, List<ObservedPod> replace, List<String> heldBack) {

    static NumberedSet of(StorageSetSpec set, PoolObservation seen) {
        Optional<StatefulSet> current = seen.storageWorkloads(StatefulSet.class).stream()
                .filter(candidate -> PoolObservation.setName(candidate).equals(set.name()))
                .findFirst();
        List<String> heldBack = new ArrayList<>();
        int replicas = replicas(set, seen, current.map(NumberedSet::replicasOf).orElse(0), heldBack);
        Outdated outdated = Outdated.of(seen.podsOfSet(set.name(), false), current);
        List<ObservedPod> losing = outdated.running();
        if (!losing.isEmpty() && !mayLoseBytes(seen)) {
            heldBack.add(new BytesAtStake(seen.leaderReport()).earlierSettings(losing));
        }
        return new NumberedSet(
                replicas,
                seen.names().storagePods(set, replicas),
                mayLoseBytes(seen) ? outdated.oneAtATime() : outdated.neverRan(),
                heldBack);
    }

    static int replicasOf(StatefulSet set) {
        return set.getSpec().getReplicas() == null ? 0 : set.getSpec().getReplicas();
    }

    private static int replicas(StorageSetSpec set, PoolObservation seen, int have, List<String> heldBack) {
        int want = set.replicas();
        List<ObservedPod> losing = seen.podsOfSet(set.name(), false).stream()
                .filter(pod -> pod.ordinal() >= want && pod.ordinal() < have && pod.started())
                .toList();
        if (have <= want || losing.isEmpty() || mayLoseBytes(seen)) {
            return want;
        }
        heldBack.add("Storage set %s keeps %d nodes instead of %d: removing %s would lose %s."
                .formatted(
                        set.name(),
                        have,
                        want,
                        BytesAtStake.names(losing),
                        new BytesAtStake(seen.leaderReport()).of(losing)));
        return have;
    }

    private static boolean mayLoseBytes(PoolObservation seen) {
        return seen.spec().onDataLoss() == DataLossPolicy.REPLACE;
    }
}
