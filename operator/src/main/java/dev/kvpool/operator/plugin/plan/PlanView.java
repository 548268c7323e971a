// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.plan;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.plugin.output.Words;
import dev.kvpool.operator.pool.naming.ObjectTitle;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.Foresight;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.transition.Action;
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
public record PlanView(
        String pool, String namespace, String phase, String message, List<Step> steps, List<Condition> because) {
    private static final String RECREATE = "recreate";
    private static final String HOLD_BACK = "hold back";
    private static final Set<String> SAYS_OF_PODS = Set.of(RECREATE, HOLD_BACK);

    /**
     * One thing to do.
     *
     * @param does a verb
     * @param to what, as KIND NAME
     * @param fields which fields would differ, or why it is done
     */
    public record Step(String does, String to, List<String> fields) {}

    /**
     * Makes a view.
     *
     * @param changes what applying the planned objects would change
     */
    public static PlanView of(PoolObservation seen, PoolPlan plan, List<Step> changes, KvCachePoolStatus next) {
        List<Step> steps = new ArrayList<>();
        plan.leader()
                .dead()
                .ifPresent(dead -> dead.others()
                        .forEach(
                                other -> steps.add(new Step("tell", "Pod " + other.name(), List.of(dead.sentence())))));
        steps.addAll(changes);
        plan.delete().forEach(object -> steps.add(new Step("delete", ObjectTitle.of(object), List.of())));
        plan.actions().forEach(action -> steps.add(step(action)));
        plan.transitions().steps().stream()
                .filter(step -> !seen.status().steps().contains(step))
                .forEach(step -> steps.add(step(step)));
        seen.pods(PoolLabels.ROLE_MASTER)
                .forEach(pod -> label(pod, plan.leader().pod()).ifPresent(steps::add));
        seen.pods(PoolLabels.ROLE_STORAGE)
                .forEach(pod -> label(pod, plan.transitions().evictable()).ifPresent(steps::add));
        plan.deferred().pods().map(PlanView::deferred).forEach(steps::add);
        return new PlanView(
                seen.names().pool(),
                seen.names().namespace(),
                Words.of(next.phase()),
                next.message(),
                steps,
                next.conditions());
    }

    /**
     * Makes a view of a change that is not applied yet.
     *
     * @param changes what applying the planned objects would change
     */
    public static PlanView ofChange(Foresight foresight, List<Step> changes, KvCachePoolStatus next) {
        PlanView now = of(foresight.seen(), foresight.second(), changes, next);
        List<Step> steps = new ArrayList<>(now.steps());
        Set<String> outdated = foresight.pods().keySet().stream()
                .map(pod -> "Pod " + pod.name())
                .collect(Collectors.toSet());
        steps.removeIf(step -> SAYS_OF_PODS.contains(step.does()) && outdated.contains(step.to()));
        String agents = "DaemonSet " + foresight.seen().names().agents();
        changes.stream()
                .filter(step -> step.to().equals(agents)
                        && step.fields().stream().anyMatch(field -> field.startsWith("spec.template")))
                .forEach(step -> steps.add(
                        new Step(RECREATE, "agents", List.of("Kubernetes does, a few at a time; they hold nothing"))));
        foresight.pods().entrySet().stream()
                .sorted(Comparator.comparing(pod -> pod.getKey().name()))
                .forEach(pod -> steps.add(step(pod.getKey(), pod.getValue())));
        return new PlanView(now.pool(), now.namespace(), now.phase(), now.message(), steps, now.because());
    }

    private static Step step(ObservedPod pod, Foresight.Fate fate) {
        String to = "Pod " + pod.name();
        return switch (fate) {
            case RECREATED -> new Step(RECREATE, to, List.of("one at a time"));
            case EMPTIED_BEFORE -> new Step(RECREATE, to, List.of("after it has been emptied, one at a time"));
            case HELD_BACK ->
                new Step(HOLD_BACK, to, List.of("it goes on with earlier settings, since it would lose what it holds"));
            case DEFERRED -> deferred(pod);
        };
    }

    private static Step deferred(ObservedPod pod) {
        return new Step(
                HOLD_BACK,
                "Pod " + pod.name(),
                List.of("it goes on as an earlier operator made it; condition Progressing says until when"));
    }

    private static Step step(Action action) {
        return switch (action) {
            case Action.SetImage(String pod, String uid, String image) ->
                new Step("change", "Pod " + pod, List.of("its image to " + image));
            case Action.DeletePod(String pod, String uid) ->
                new Step(
                        RECREATE,
                        "Pod " + pod,
                        List.of("it was made with other settings than there are now, or is empty"));
            case Action.HandOver(String pod) -> new Step("tell", "Pod " + pod, List.of("to hand over"));
            case Action.Finalise(int wire, int layout, boolean ignoreClients) ->
                new Step(
                        "tell",
                        "the leader",
                        List.of("to change to wire version %d, layout %d".formatted(wire, layout)));
            case Action.Empty(String node, boolean clear) -> new Step("empty", "storage node " + node, List.of());
            case Action.Cancel(String node) -> new Step("take back", "storage node " + node, List.of());
        };
    }

    /** A step that begins now, or is written down to wait. */
    private static Step step(StepStatus step) {
        String does = switch (step.kind()) {
            case HAND_OVER -> "hand over";
            case RESTART -> "restart";
            case EMPTY -> "empty";
            case REPLACE -> RECREATE;
            case REMOVE -> "remove";
            case TAKE_BACK -> "take back";
        };
        return new Step(
                does,
                step.of(),
                List.of("because of %s: %s%s"
                        .formatted(
                                Words.of(step.because()),
                                Words.of(step.state()),
                                step.waitsFor() == null ? "" : ": " + step.waitsFor())));
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
