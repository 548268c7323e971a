// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepProgress;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.DataLossPolicy;
import dev.kvpool.operator.pool.member.Cordon;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.observation.ObservedPod;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Decides what is done now with the pods of a pool: steps under way go on, and others begin, in one order and within one budget. */
public final class Transitions {
    private static final Set<StepState> MAY_GO = Set.of(StepState.EMPTY, StepState.DROPPED, StepState.KEPT);

    private final TransitionView view;
    private final StepJudge.Judged judged;
    private final Optional<Behind> behind;
    private final List<StepStatus> steps = new ArrayList<>();
    private final List<StepStatus> listed = new ArrayList<>();
    private final List<Action> actions = new ArrayList<>();
    private final List<Wait> waiting = new ArrayList<>();

    /** Of what something begins in this look. Nothing else does then, but where all stays as it is. */
    private final Set<String> begun = new HashSet<>();

    private final List<Member> outdated;

    private Transitions(TransitionView view, StepJudge.Judged judged) {
        this.view = view;
        this.judged = judged;
        this.behind = view.goals().image().map(goal -> new Behind(view, goal));
        this.outdated = view.members().storage().stream()
                .filter(member -> view.goals().outdated().contains(member.id()))
                .filter(member -> view.goals().wanted().contains(member.id()))
                .filter(member -> member.started() && !member.leaving())
                .toList();
    }

    /**
     * Decides.
     *
     * @param view with the images that the upgrade brings the pool to now
     */
    public static TransitionPlan plan(TransitionView view, StepJudge.Judged judged) {
        return new Transitions(view, judged).plan();
    }

    private TransitionPlan plan() {
        List<Verdict.Under> goOn = behind.isPresent() ? judged.goOn() : StepJudge.withoutUpgrade(judged, view);
        goOn.forEach(under -> {
            steps.add(under.step());
            actions.addAll(under.actions());
        });
        actions.addAll(judged.others());
        behind.filter(those -> !view.goals().image().orElseThrow().paused())
                .ifPresent(those -> actions.addAll(those.unasked()));
        fresh();
        List<Transition> needs = Needs.of(view, List.copyOf(steps), judged.waiting(), behind);
        Waits waits = new Waits(view, steps, waiting, behind, outdated(DataLossPolicy.REPLACE));
        needs.forEach(need -> begin(need, waits));
        behind.ifPresent(those -> waiting.addAll(waits.of(those)));
        List<StepStatus> next = new ArrayList<>(steps);
        listed.stream().limit(Math.max(0, StepStatus.STEPS_MAX - next.size())).forEach(next::add);
        StepWords words = new StepWords(view);
        return new TransitionPlan(
                next,
                actions,
                released(next),
                evictable(next),
                waiting,
                heldBack(),
                moved(),
                replacing(),
                words.removing(waiting),
                words.upgrade(steps, waiting),
                words.draining(next, waiting),
                view.terms().paused().contains(StepCause.SETTINGS)
                        ? Deferred.NONE
                        : view.goals().deferred());
    }

    /** Pods that never ran hold nothing: they come back with the settings there are now at once. */
    private void fresh() {
        if (view.terms().paused().contains(StepCause.SETTINGS)) {
            return;
        }
        view.members()
                .all()
                .filter(member -> view.goals().outdated().contains(member.id()))
                .filter(member -> !member.started() && !member.leaving())
                .map(member -> new Action.DeletePod(member.pod(), member.uid()))
                .forEach(actions::add);
    }

    private void begin(Transition need, Waits waits) {
        if (begun.contains(need.of())) {
            return;
        }
        String host = need.stops() ? null : view.host(need.of(), need.because());
        boolean keeps = need.because() == StepCause.CORDON
                && !need.stops()
                && view.cordon(need.of()).filter(Cordon::keeps).isPresent();
        // What was kept, and is to be empty after all, has waited for nothing so far.
        Optional<StepStatus> before = judged.waiting().stream()
                .filter(step -> step.of().equals(need.of())
                        && step.because() == need.because()
                        && (step.state() == StepState.WAITING || (step.state() == StepState.KEPT && keeps))
                        && Objects.equals(step.machine(), host))
                .findFirst();
        if (before.filter(step -> new EmptySteps(view).isWaitedForTooLong(step)).isPresent()
                && !view.isPaused(need.of(), need.because())) {
            steps.add(before.get().in(keeps ? StepState.KEPT : StepState.DROPPED, null));
            return;
        }
        boolean holdsNothing = need.mends() && need.kind() == StepKind.REPLACE && view.isMoved(need.of());
        StepStatus next = view.begin(need.of(), need.kind(), need.because())
                .on(host)
                .in(holdsNothing ? StepState.EMPTY : StepState.UNDER_WAY, null);
        if (before.isPresent() && !need.stops()) {
            next = next.withoutFacts()
                    .begun(before.get().since())
                    .with(before.get().progress());
        }
        Optional<String> why = waits.of(need);
        if (why.isEmpty()) {
            boolean waited =
                    before.filter(step -> step.state() == StepState.WAITING).isPresent();
            if (!keeps) {
                begun.add(need.of());
            }
            steps.removeIf(other -> other.of().equals(need.of()));
            // The time of emptying begins when the wait for it is over.
            steps.add(
                    keeps
                            ? next.in(StepState.KEPT, null)
                            : waited && !need.stops()
                                    ? next.with(new StepProgress(view.now().toString(), null))
                                    : next);
            return;
        }
        waiting.add(new Wait(need.of(), need.because(), why.get()));
        boolean known =
                steps.stream().anyMatch(step -> step.of().equals(need.of()) && step.because() == need.because());
        if (!known && !view.isPaused(need.of(), need.because())) {
            listed.add(next.withoutFacts()
                    .begun(before.map(StepStatus::since).orElse(next.since()))
                    .in(StepState.WAITING, why.get()));
        }
    }

    private Optional<StepStatus> find(List<StepStatus> among, String id) {
        return among.stream().filter(step -> step.of().equals(id)).findFirst();
    }

    /** Its step said so already, and says so still: it may go once that is written down. */
    private boolean mayGo(String id, Predicate<StepCause> cause, List<StepStatus> next) {
        return find(next, id)
                .filter(step -> cause.test(step.because()) && MAY_GO.contains(step.state()))
                .filter(step -> find(view.steps(), id)
                        .filter(old -> old.because() == step.because() && old.state() == step.state())
                        .isPresent())
                .filter(step -> step.state() != StepState.EMPTY
                        || view.members()
                                .node(id)
                                .filter(node -> EmptySteps.isEmpty(step, node))
                                .isPresent())
                .isPresent();
    }

    private Set<String> released(List<StepStatus> next) {
        Set<String> released = new LinkedHashSet<>();
        view.goals().unwanted().forEach((id, holds) -> {
            boolean asItIs = !holds || view.terms().mayLoseBytes();
            if (!view.isPaused(id, StepCause.SCALE_DOWN) && (asItIs || mayGo(id, StepCause.SCALE_DOWN::equals, next))) {
                released.add(id);
            }
        });
        view.goals().surplus().stream()
                .filter(pod -> !view.isPaused(pod, StepCause.SCALE_DOWN))
                .filter(pod -> view.members().get(pod).filter(Member::started).isEmpty() || isRemoved(pod, next))
                .forEach(released::add);
        return released;
    }

    /** Its step said so already, and says so still. */
    private boolean isRemoved(String pod, List<StepStatus> next) {
        return Stream.of(view.steps(), next)
                .allMatch(steps -> find(steps, pod)
                        .filter(step -> step.kind() == StepKind.REMOVE && step.state() == StepState.UNDER_WAY)
                        .isPresent());
    }

    private Set<String> evictable(List<StepStatus> next) {
        Set<String> released = released(next);
        return view.members().storage().stream()
                .filter(member -> view.cordon(member.id())
                        .filter(cordon -> isEvictable(member, cordon, released, next))
                        .isPresent())
                .map(Member::pod)
                .collect(Collectors.toSet());
    }

    private boolean isEvictable(Member member, Cordon cordon, Set<String> released, List<StepStatus> next) {
        if (view.terms().paused().contains(StepCause.CORDON)) {
            return member.observed().evictable();
        }
        if (view.goals().unwanted().containsKey(member.id())) {
            return released.contains(member.id());
        }
        // Of one that only a user wants empty no Kubernetes node waits to be rid.
        boolean concerned = !cordon.requested() && cordon.empties();
        boolean holds = member.started() && !member.leaving();
        return concerned && (!holds || mayGo(member.id(), StepCause::isOfPlace, next));
    }

    /** Storage nodes that come to other settings in this way. */
    private List<Member> outdated(DataLossPolicy how) {
        return outdated.stream()
                .filter(member -> view.terms().forSettings(member) == how)
                .toList();
    }

    private List<String> heldBack() {
        List<String> heldBack = new ArrayList<>();
        List<ObservedPod> waiting = pods(outdated(DataLossPolicy.WAIT));
        if (!waiting.isEmpty()) {
            heldBack.add(new BytesAtStake(view.members().leader()).earlierSettings(waiting));
        }
        List<Member> replaced = outdated(DataLossPolicy.REPLACE);
        Waits.lossy(replaced, view)
                .map(node -> SettingsWords.lossy(node, pods(replaced)))
                .ifPresent(heldBack::add);
        return heldBack;
    }

    private List<String> moved() {
        List<ObservedPod> pods = pods(outdated(DataLossPolicy.MOVE));
        return pods.isEmpty() ? List.of() : List.of(BytesAtStake.untilEmptied(pods));
    }

    private List<String> replacing() {
        List<ObservedPod> pods = view.members()
                .all()
                .filter(member -> view.goals().outdated().contains(member.id()) && !member.leaving())
                .filter(member ->
                        member.master() || outdated(DataLossPolicy.REPLACE).contains(member))
                .map(Member::observed)
                .toList();
        return SettingsWords.replacing(pods, steps, waiting);
    }

    private static List<ObservedPod> pods(List<Member> members) {
        return members.stream().map(Member::observed).toList();
    }
}
