// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.operator.pool.member.Members;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.OperatorSettings.RolloutTerms;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Pods that an earlier operator, or one with other settings, made otherwise from the same spec. No user asked for other ones, so they run on:
 * until the turn comes to their pool, or, where replacing them costs or risks what they hold, until a user asks for it. Until then the
 * template of their workload stays as it is, too. Those found here are of a pool that has lost its turn, after its templates had changed.
 *
 * @param untilTurn replaced when the turn comes to the pool
 * @param untilAsked replaced when a user asks for it
 */
public record Deferred(List<ObservedPod> untilTurn, List<ObservedPod> untilAsked) {
    public static final Deferred NONE = new Deferred(List.of(), List.of());

    public Deferred {
        untilTurn = List.copyOf(untilTurn);
        untilAsked = List.copyOf(untilAsked);
    }

    /**
     * Finds them. Pods that never ran are none: there is nothing to keep.
     *
     * @param outdated pods with other settings than there are now
     * @param turn whether it is this pool's turn
     */
    static Deferred among(
            List<ObservedPod> outdated,
            PoolObservation seen,
            TransitionView.Terms terms,
            RolloutTerms rollout,
            boolean turn) {
        List<ObservedPod> untilTurn = new ArrayList<>();
        List<ObservedPod> untilAsked = new ArrayList<>();
        for (ObservedPod pod : outdated) {
            if (!pod.started() || !isAsUsersAsk(pod, seen)) {
                continue;
            }
            if (terms.isLeftToUsers(pod.role(), Members.outlives(pod, seen), rollout)) {
                untilAsked.add(pod);
            } else if (!turn) {
                untilTurn.add(pod);
            }
        }
        return new Deferred(untilTurn, untilAsked);
    }

    private static boolean isAsUsersAsk(ObservedPod pod, PoolObservation seen) {
        return !pod.asked().isEmpty()
                && seen.template(pod)
                        .filter(notes -> notes.asked().equals(pod.asked()))
                        .isPresent();
    }

    public Deferred and(Deferred more) {
        return new Deferred(
                Stream.concat(untilTurn.stream(), more.untilTurn.stream()).toList(),
                Stream.concat(untilAsked.stream(), more.untilAsked.stream()).toList());
    }

    /** All of them. */
    public Stream<ObservedPod> pods() {
        return Stream.concat(untilTurn.stream(), untilAsked.stream());
    }

    public boolean contains(ObservedPod pod) {
        return untilTurn.contains(pod) || untilAsked.contains(pod);
    }

    public boolean isEmpty() {
        return untilTurn.isEmpty() && untilAsked.isEmpty();
    }

    /**
     * What they wait for.
     *
     * @param pool name of their pool
     */
    public List<String> sentences(String pool, RolloutTerms terms) {
        List<String> sentences = new ArrayList<>();
        if (!untilTurn.isEmpty()) {
            sentences.add(
                    ("An earlier operator made %s, to be replaced when the turn comes to this pool: %s at a time. To administrators"
                                    + " metric kvpool_rollout_turn of the operator says whose turn it is.")
                            .formatted(
                                    ObservedPod.names(untilTurn),
                                    terms.pools() == 1 ? "one pool" : terms.pools() + " pools"));
        }
        if (!untilAsked.isEmpty()) {
            sentences.add(
                    "An earlier operator made %s, to be replaced when a user asks for a restart: kubectl kvpool restart %s --role storage."
                            .formatted(ObservedPod.names(untilAsked), pool));
        }
        return sentences;
    }
}
