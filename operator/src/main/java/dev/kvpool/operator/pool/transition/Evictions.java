// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.operator.pool.drain.Departure;
import dev.kvpool.operator.pool.drain.DrainPlan;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Which storage pods may be evicted: names of those that shall have the label the disruption budget leaves out. Pure. */
public final class Evictions {
    private Evictions() {}

    /** Those whose storage nodes may go by the drains of this round. */
    public static Set<String> let(PoolObservation seen, DrainPlan drains) {
        return names(seen, pod -> drains.evictable().contains(pod.nodeId()));
    }

    /** Where nothing is decided: those that might before, unless their node of the cluster is not cordoned any more. */
    public static Set<String> stillLet(PoolObservation seen, List<Departure> departures) {
        Set<String> cordoned = departures.stream()
                .filter(departure -> departure.cordon().isPresent())
                .map(Departure::node)
                .collect(Collectors.toSet());
        return names(seen, pod -> pod.evictable() && cordoned.contains(pod.nodeId()));
    }

    private static Set<String> names(PoolObservation seen, Predicate<ObservedPod> which) {
        return seen.pods(PoolLabels.ROLE_STORAGE).stream()
                .filter(which)
                .map(ObservedPod::name)
                .collect(Collectors.toSet());
    }
}
