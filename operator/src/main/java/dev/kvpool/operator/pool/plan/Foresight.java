// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.member.Members;
import dev.kvpool.operator.pool.naming.ObjectTitle;
import dev.kvpool.operator.pool.naming.Workloads;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.transition.TransitionView;
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
        RECREATED,
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
            TransitionView.Terms terms = TransitionView.Terms.of(then.spec(), Set.of());
            Set<ObservedPod> outdated = Set.copyOf(then.outdated());
            Members.of(then)
                    .all()
                    .filter(member -> outdated.contains(member.observed()))
                    .forEach(member -> pods.put(
                            member.observed(),
                            second.deferred().contains(member.observed()) ? Fate.DEFERRED : fate(member, terms)));
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

    private static Fate fate(Member member, TransitionView.Terms terms) {
        if (!member.started()) {
            return Fate.RECREATED;
        }
        return switch (terms.forSettings(member)) {
            case REPLACE -> Fate.RECREATED;
            case MOVE -> Fate.EMPTIED_BEFORE;
            case WAIT -> Fate.HELD_BACK;
        };
    }
}
