// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepProgress;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.pool.member.Cordon;
import dev.kvpool.operator.pool.member.Member;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Decides what is done now with the pods of a pool: steps under way go on, and others begin, in one order and within one budget. */
public final class Transitions {
    private static final Set<StepState> MAY_GO = Set.of(StepState.EMPTY, StepState.DROPPED, StepState.KEPT);

    private final TransitionView view;
    private final Goals goals;
    private final StepJudge.Judged judged;
    private final Optional<Behind> behind;
    private final OutdatedPods outdated;
    private final Steps steps;
    private final List<StepStatus> listed = new ArrayList<>();
    private final List<Wait> waiting = new ArrayList<>();
    private final Waits waits;

    /** Of what something begins in this look. Nothing else does then, but where all stays as it is. */
    private final Set<String> begun = new HashSet<>();

    private Transitions(TransitionView view, StepJudge.Judged judged, List<Verdict.Under> goOn) {
        this.view = view;
        this.goals = view.goals();
        this.judged = judged;
        this.behind = goals.image().map(goal -> new Behind(view, goal));
        this.outdated = new OutdatedPods(view);
        this.steps = new Steps(view, goOn.stream().map(Verdict.Under::step).toList());
        this.waits = new Waits(view, steps, waiting, behind, outdated);
    }

    /**
     * Decides.
     *
     * @param view with the images that the upgrade brings the pool to now
     */
    public static TransitionPlan plan(TransitionView view, StepJudge.Judged judged) {
        List<Verdict.Under> goOn =
                view.goals().image().isPresent() ? judged.goOn() : StepJudge.withoutUpgrade(judged, view);
        List<Action> actions = new ArrayList<>();
        goOn.forEach(under -> actions.addAll(under.actions()));
        actions.addAll(judged.others());
        return new Transitions(view, judged, goOn).plan(actions);
    }

    private TransitionPlan plan(List<Action> actions) {
        behind.filter(those -> !goals.image().orElseThrow().paused())
                .ifPresent(those -> actions.addAll(those.unasked()));
        if (!view.terms().paused().contains(StepCause.SETTINGS)) {
            actions.addAll(outdated.recreatedAtOnce());
        }
        Needs.of(view, steps, judged.waiting(), behind).forEach(this::begin);
        behind.ifPresent(those -> waiting.addAll(waits.of(those)));
        List<StepStatus> next = new ArrayList<>(steps.all());
        next.addAll(listed(StepStatus.STEPS_MAX - next.size()));
        Set<String> released = released(next);
        StepWords words = new StepWords(view, steps.all(), waiting);
        return new TransitionPlan(
                next,
                actions,
                released,
                evictable(released, next),
                waiting,
                new TransitionPlan.Words(
                        outdated.heldBack(),
                        outdated.emptiedFirst(),
                        words.replacing(outdated),
                        words.removing(),
                        words.upgrade(),
                        words.draining(next)));
    }

    /**
     * Those of the waiting that have room in the status, in their order. What waits on cordoned Kubernetes nodes is not left out for what others
     * wait for, nor for what has waited for less time: its own counts from when it is listed.
     */
    private List<StepStatus> listed(int room) {
        Set<StepStatus> first = listed.stream()
                .sorted(Comparator.comparing((StepStatus step) -> step.because() != StepCause.CORDON)
                        .thenComparing(StepStatus::since))
                .limit(Math.max(0, room))
                .collect(Collectors.toSet());
        return listed.stream().filter(first::contains).toList();
    }

    private void begin(Transition need) {
        String id = need.of();
        if (begun.contains(id)) {
            return;
        }
        boolean paused = view.isPaused(id, need.because());
        String host = need.stops() ? null : view.host(id, need.because());
        boolean keeps = need.because() == StepCause.CORDON && !need.stops() && view.isCordoned(id, Cordon::keeps);
        // What was kept, and is to be empty after all, has waited for nothing so far.
        Optional<StepStatus> before = judged.waiting().stream()
                .filter(step -> step.of().equals(id) && step.because() == need.because())
                .filter(step -> step.state() == StepState.WAITING || (step.state() == StepState.KEPT && keeps))
                .filter(step -> Objects.equals(step.machine(), host))
                .findFirst();
        if (!paused && before.filter(new EmptySteps(view)::isWaitedForTooLong).isPresent()) {
            steps.begin(before.get().in(keeps ? StepState.KEPT : StepState.DROPPED, null));
            return;
        }
        StepStatus next = next(need, host, before);
        Optional<String> why = waits.of(need);
        if (why.isPresent()) {
            boolean known = steps.any(step -> step.of().equals(id) && step.because() == need.because());
            waiting.add(new Wait(id, need.because(), why.get()));
            if (!known && !paused) {
                listed.add(next.withoutFacts()
                        .begun(before.map(StepStatus::since).orElse(next.since()))
                        .in(StepState.WAITING, why.get()));
            }
        } else if (keeps) {
            steps.begin(next.in(StepState.KEPT, null));
        } else {
            begun.add(id);
            // The time of emptying begins when the wait for it is over.
            boolean waited = !need.stops()
                    && before.filter(step -> step.state() == StepState.WAITING).isPresent();
            steps.begin(waited ? next.with(new StepProgress(view.now().toString(), null)) : next);
        }
    }

    private StepStatus next(Transition need, String host, Optional<StepStatus> before) {
        boolean holdsNothing = need.mends() && need.kind() == StepKind.REPLACE && view.isMoved(need.of());
        StepStatus next = view.begin(need.of(), need.kind(), need.because())
                .on(host)
                .in(holdsNothing ? StepState.EMPTY : StepState.UNDER_WAY, null);
        return before.filter(step -> !need.stops())
                .map(step -> next.withoutFacts().begun(step.since()).with(step.progress()))
                .orElse(next);
    }

    /** Its step said so already, and says so still: what follows is done once that is written down. */
    private boolean saidSo(String id, List<StepStatus> next, Predicate<StepStatus> so) {
        Optional<StepStatus> now = new Steps(view, next).of(id).filter(so);
        return now.isPresent()
                && new Steps(view, view.steps())
                        .is(
                                id,
                                old -> so.test(old)
                                        && old.because() == now.get().because()
                                        && old.state() == now.get().state());
    }

    private boolean mayGo(String id, Predicate<StepCause> cause, List<StepStatus> next) {
        return saidSo(
                id,
                next,
                step -> cause.test(step.because())
                        && MAY_GO.contains(step.state())
                        && (step.state() != StepState.EMPTY
                                || view.members().isSeen(id, node -> EmptySteps.isEmpty(step, node))));
    }

    private Set<String> released(List<StepStatus> next) {
        Set<String> released = new LinkedHashSet<>();
        goals.unwanted().forEach((id, holds) -> {
            boolean asItIs = !holds || view.terms().mayLoseBytes();
            if (asItIs || mayGo(id, StepCause.SCALE_DOWN::equals, next)) {
                released.add(id);
            }
        });
        goals.surplus().stream()
                .filter(pod -> !view.members().is(pod, Member::started)
                        || saidSo(
                                pod,
                                next,
                                step -> step.kind() == StepKind.REMOVE && step.state() == StepState.UNDER_WAY))
                .forEach(released::add);
        released.removeIf(id -> view.isPaused(id, StepCause.SCALE_DOWN));
        return released;
    }

    /** Names of pods that may be evicted now. */
    private Set<String> evictable(Set<String> released, List<StepStatus> next) {
        return view.members().storage().stream()
                .filter(member -> view.isCordoned(member.id(), cordon -> isEvictable(member, cordon, released, next)))
                .map(Member::pod)
                .collect(Collectors.toSet());
    }

    private boolean isEvictable(Member member, Cordon cordon, Set<String> released, List<StepStatus> next) {
        if (view.terms().paused().contains(StepCause.CORDON)) {
            return member.observed().evictable();
        }
        if (goals.unwanted().containsKey(member.id())) {
            return released.contains(member.id());
        }
        // Of one that only a user wants empty no Kubernetes node waits to be rid.
        boolean concerned = !cordon.requested() && cordon.empties();
        return concerned && (!member.isThere() || mayGo(member.id(), StepCause::isOfPlace, next));
    }
}
