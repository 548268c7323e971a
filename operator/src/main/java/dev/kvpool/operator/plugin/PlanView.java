// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin;

import dev.kvpool.api.v1alpha1.Condition;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.operator.pool.drain.DrainAction;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.Foresight;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.roll.RollAction;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What the operator would do now, and what its status would say of it. Pure.
 *
 * @param steps empty when the pool is as its spec wants it, or when the operator may not or cannot act
 * @param because conditions of the next status, by which the plan explains itself
 */
record PlanView(
        String pool, String namespace, String phase, String message, List<Step> steps, List<Condition> because) {
    private static final String MAKE_ANEW = "make anew";

    /**
     * One thing to do.
     *
     * @param does a verb
     * @param to what, as KIND NAME
     * @param fields which fields would differ, or why it is done
     */
    record Step(String does, String to, List<String> fields) {}

    /**
     * Makes a view.
     *
     * @param changes what applying the planned objects would change
     */
    static PlanView of(PoolObservation seen, PoolPlan plan, List<Step> changes, KvCachePoolStatus next) {
        List<Step> steps = new ArrayList<>();
        plan.deadLeader()
                .ifPresent(dead -> dead.others(seen)
                        .forEach(
                                other -> steps.add(new Step("tell", "Pod " + other.name(), List.of(dead.sentence())))));
        steps.addAll(changes);
        plan.delete().forEach(object -> steps.add(new Step("delete", title(object), List.of())));
        plan.replacePods()
                .forEach(pod -> steps.add(new Step(
                        MAKE_ANEW,
                        "Pod " + pod.name(),
                        List.of("it was made with other settings than there are now"))));
        plan.roll().actions().forEach(action -> steps.add(step(action)));
        plan.drains().actions().forEach(action -> steps.add(step(action)));
        seen.pods(PoolLabels.ROLE_MASTER)
                .forEach(pod -> label(pod, plan.leaderPod()).ifPresent(steps::add));
        seen.pods(PoolLabels.ROLE_STORAGE)
                .forEach(pod -> label(pod, plan.evictable()).ifPresent(steps::add));
        return new PlanView(
                seen.names().pool(),
                seen.names().namespace(),
                Words.of(next.phase()),
                next.message(),
                steps,
                next.conditions());
    }

    /**
     * Makes a view of a change that nobody has applied.
     *
     * @param changes what applying the planned objects would change
     */
    static PlanView ofChange(Foresight foresight, List<Step> changes, KvCachePoolStatus next) {
        PlanView now = of(foresight.seen(), foresight.second(), changes, next);
        List<Step> steps = new ArrayList<>(now.steps());
        Set<String> outdated = foresight.pods().keySet().stream()
                .map(pod -> "Pod " + pod.name())
                .collect(Collectors.toSet());
        steps.removeIf(step -> step.does().equals(MAKE_ANEW) && outdated.contains(step.to()));
        String agents = "DaemonSet " + foresight.seen().names().agents();
        changes.stream()
                .filter(step -> step.to().equals(agents)
                        && step.fields().stream().anyMatch(field -> field.startsWith("spec.template")))
                .forEach(step -> steps.add(
                        new Step(MAKE_ANEW, "agents", List.of("Kubernetes does, a few at a time; they hold nothing"))));
        foresight.pods().entrySet().stream()
                .sorted(Comparator.comparing(pod -> pod.getKey().name()))
                .forEach(pod -> steps.add(step(pod.getKey(), pod.getValue())));
        return new PlanView(now.pool(), now.namespace(), now.phase(), now.message(), steps, now.because());
    }

    private static Step step(ObservedPod pod, Foresight.Fate fate) {
        String to = "Pod " + pod.name();
        return switch (fate) {
            case MADE_ANEW -> new Step(MAKE_ANEW, to, List.of("one at a time"));
            case EMPTIED_BEFORE -> new Step(MAKE_ANEW, to, List.of("after it has been emptied, one at a time"));
            case HELD_BACK ->
                new Step(
                        "hold back",
                        to,
                        List.of("it goes on with earlier settings, since it would lose what it holds"));
        };
    }

    static String title(HasMetadata object) {
        return object.getKind() + " " + object.getMetadata().getName();
    }

    private static Step step(RollAction action) {
        return switch (action) {
            case RollAction.SetImage(String pod, String uid, String image) ->
                new Step("change", "Pod " + pod, List.of("its image to " + image));
            case RollAction.DeletePod(String pod, String uid) -> new Step(MAKE_ANEW, "Pod " + pod, List.of());
            case RollAction.HandOver(String pod) -> new Step("tell", "Pod " + pod, List.of("to hand over"));
            case RollAction.Finalise(int wire, int layout, boolean ignoreClients) ->
                new Step(
                        "tell",
                        "the leader",
                        List.of("to go over to wire version %d, layout %d".formatted(wire, layout)));
            case RollAction.Clear(String node) -> new Step("empty", "storage node " + node, List.of());
            case RollAction.Cancel(String node) -> new Step("take back", "storage node " + node, List.of());
        };
    }

    private static Step step(DrainAction action) {
        return switch (action) {
            case DrainAction.Empty(String node) -> new Step("empty", "storage node " + node, List.of());
            case DrainAction.Cancel(String node) -> new Step("take back", "storage node " + node, List.of());
        };
    }

    private static Optional<Step> label(ObservedPod storage, Set<String> evictable) {
        boolean may = evictable.contains(storage.name());
        return may == storage.evictable()
                ? Optional.empty()
                : Optional.of(new Step(
                        "change",
                        "Pod " + storage.name(),
                        List.of(may ? "it may be evicted" : "it may not be evicted any more")));
    }

    private static Optional<Step> label(ObservedPod master, Optional<String> leader) {
        boolean leads = leader.filter(master.name()::equals).isPresent();
        return leads == master.leaderLabel()
                ? Optional.empty()
                : Optional.of(new Step(
                        "change",
                        "Pod " + master.name(),
                        List.of(leads ? "the leader label to it" : "no leader label")));
    }
}
