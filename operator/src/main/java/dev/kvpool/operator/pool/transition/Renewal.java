// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.DataLossPolicy;
import dev.kvpool.operator.pool.drain.Departure;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.util.List;
import java.util.Set;

/**
 * What is done now about the pods of a storage set that run with earlier settings. Where what they hold outlives them, or may be
 * lost, they are made anew in turn with those of other sets; else they are left, or emptied before, as the spec says. Pure.
 *
 * @param replace pods to delete, so that they are made anew: they hold nothing
 * @param inTurn pods to make anew a few at a time
 * @param departures storage nodes to be emptied before that, or whose pods are ending
 * @param heldBack sentences about what is not done, because it would lose bytes
 * @param waiting sentences about what is not done before storage nodes are empty
 */
public record Renewal(
        List<ObservedPod> replace,
        List<ObservedPod> inTurn,
        List<Departure> departures,
        List<String> heldBack,
        List<String> waiting) {

    /**
     * Decides.
     *
     * @param outlivesPods whether what they hold is there again when their pods are
     * @param released ids of storage nodes that have been emptied
     */
    public static Renewal of(Outdated outdated, boolean outlivesPods, PoolObservation seen, Set<String> released) {
        DataLossPolicy policy = seen.spec().onDataLoss();
        if (outlivesPods || policy == DataLossPolicy.REPLACE) {
            return new Renewal(outdated.neverRan(), outdated.running(), List.of(), List.of(), List.of());
        }
        BytesAtStake stake = new BytesAtStake(seen.leaderReport());
        List<ObservedPod> running = outdated.running();
        if (policy == DataLossPolicy.WAIT) {
            return new Renewal(
                    outdated.neverRan(),
                    List.of(),
                    List.of(),
                    running.isEmpty() ? List.of() : List.of(stake.earlierSettings(running)),
                    List.of());
        }
        return new Renewal(
                outdated.emptied(released),
                List.of(),
                outdated.departures(),
                List.of(),
                running.isEmpty() ? List.of() : List.of(BytesAtStake.untilEmptied(running)));
    }
}
