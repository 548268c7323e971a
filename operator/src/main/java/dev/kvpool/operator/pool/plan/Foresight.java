// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.member.Members;
import dev.kvpool.operator.pool.naming.ObjectTitle;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.Workloads;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.validate.PoolValidator;
import dev.kvpool.operator.status.Finding;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What the operator would do for a pool with a spec that is not applied yet: at once, and when the templates of its pods are then as
 * that spec wants them. Pure.
 *
 * @param seen the pool with the spec in question, and with its objects as they would be at the second look
 * @param problems why the spec cannot be carried out; empty when it can
 * @param first the plan of the first look, which changes objects
 * @param second the plan of the second look, which finds pods with earlier settings
 * @param pods what would become of those pods
 */
public record Foresight(
        PoolObservation seen, List<Finding> problems, PoolPlan first, PoolPlan second, Map<ObservedPod, Fate> pods) {

    /** What becomes of a pod with earlier settings. */
    public enum Fate {
        /** It is recreated, alone or as one after the other. */
        MADE_ANEW,
        /** It is emptied, and then recreated. */
        EMPTIED_BEFORE,
        /** It stays, since it would lose what it holds. */
        HELD_BACK,
        /** It stays as an earlier operator made it. */
        DEFERRED
    }

    public Foresight {
        problems = List.copyOf(problems);
        pods = Map.copyOf(pods);
    }

    /**
     * Looks ahead.
     *
     * @param now the pool with the spec in question, and with its objects as they are
     */
    public static Foresight of(PoolObservation now, OperatorSettings settings) {
        PoolPlanner planner = new PoolPlanner(settings);
        List<Finding> problems = PoolValidator.validate(now, settings);
        PoolPlan first = planner.plan(now, problems);
        PoolObservation then = afterwards(now, first);
        Map<ObservedPod, Fate> pods = new HashMap<>();
        PoolPlan second = planner.plan(then, problems);
        if (first.children().isPresent()) {
            then.outdated()
                    .forEach(pod -> pods.put(pod, second.deferred().contains(pod) ? Fate.DEFERRED : fate(pod, then)));
        }
        return new Foresight(then, problems, first, second, pods);
    }

    /** The pool with workloads as a plan makes them: of all objects it is they whose templates say which pods are outdated. */
    public static PoolObservation afterwards(PoolObservation now, PoolPlan plan) {
        List<HasMetadata> afterwards = new ArrayList<>(plan.apply().stream()
                .filter(child -> Workloads.template(child).isPresent())
                .toList());
        Set<String> made = afterwards.stream().map(ObjectTitle::of).collect(Collectors.toSet());
        now.children().stream()
                .filter(child -> !made.contains(ObjectTitle.of(child)))
                .forEach(afterwards::add);
        return now.with(afterwards);
    }

    private static Fate fate(ObservedPod pod, PoolObservation seen) {
        boolean nothingIsLost = pod.role().equals(PoolLabels.ROLE_MASTER) || !pod.started() || outlives(pod, seen);
        return switch (seen.spec().onDataLoss().unless(nothingIsLost)) {
            case REPLACE -> Fate.MADE_ANEW;
            case MOVE -> Fate.EMPTIED_BEFORE;
            case WAIT ->
                Members.of(seen).is(pod.nodeId(), Member::isThereWithNothing) ? Fate.EMPTIED_BEFORE : Fate.HELD_BACK;
        };
    }

    /** A set that the spec no longer has keeps the volume it had, which says nothing here: its nodes go anyway. */
    private static boolean outlives(ObservedPod pod, PoolObservation seen) {
        return seen.spec().storage().stream()
                .filter(set -> set.name().equals(pod.set()))
                .map(StorageSetSpec::volume)
                .anyMatch(volume -> volume.outlivesPods());
    }
}
