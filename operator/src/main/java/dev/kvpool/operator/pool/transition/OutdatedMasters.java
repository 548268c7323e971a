// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.storage.NumberedSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Which master is made anew now, because its settings are outdated: standbys first, one at a time, each only while all others
 * are ready and one leads. The leader hands over when its pod is told to end. Pure.
 */
public final class OutdatedMasters {
    private OutdatedMasters() {}

    public static List<ObservedPod> next(PoolObservation seen) {
        List<ObservedPod> masters = seen.pods(PoolLabels.ROLE_MASTER);
        Optional<StatefulSet> set = seen.children().stream()
                .filter(child -> child instanceof StatefulSet
                        && child.getMetadata().getName().equals(seen.names().masters()))
                .map(StatefulSet.class::cast)
                .findFirst();
        Outdated outdated = Outdated.of(masters, set);
        if (!outdated.neverRan().isEmpty()) {
            return outdated.neverRan();
        }
        List<ObservedPod> notReady =
                masters.stream().filter(master -> !master.ready()).toList();
        Optional<ObservedPod> broken =
                outdated.all().stream().filter(notReady::contains).findFirst();
        if (broken.isPresent()) {
            return List.of(broken.get());
        }
        int wanted = seen.spec().masters().replicas();
        boolean whole = notReady.isEmpty() && masters.size() >= Math.min(wanted, replicas(set));
        if (!whole || seen.leaderReport().isEmpty()) {
            return List.of();
        }
        String leader = seen.leaderReport().get().name();
        return outdated.all().stream()
                .min(Comparator.comparing((ObservedPod pod) -> pod.name().equals(leader))
                        .thenComparing(ObservedPod::name, Comparator.reverseOrder()))
                .map(List::of)
                .orElse(List.of());
    }

    private static int replicas(Optional<StatefulSet> set) {
        return set.map(NumberedSet::replicasOf).orElse(0);
    }
}
