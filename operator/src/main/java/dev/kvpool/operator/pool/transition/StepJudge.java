// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.pool.member.Cordon;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.member.Members;
import dev.kvpool.operator.pool.naming.Parentheses;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Looks at the steps that are under way: which go on and as what, what they need now, and which have failed. A step that is not needed any
 * more ends, or takes its storage node back. What follows from a change waits until that is written.
 */
public final class StepJudge {
    private final TransitionView view;
    private final Members members;
    private final Goals goals;
    private final PodSteps pods;
    private final EmptySteps emptying;
    private final List<Verdict.Under> goOn = new ArrayList<>();
    private final List<StepStatus> waiting = new ArrayList<>();
    private final List<Action> others = new ArrayList<>();
    private Optional<String> failure = Optional.empty();
    private boolean beginsAgain;

    private StepJudge(TransitionView view) {
        this.view = view;
        this.members = view.members();
        this.goals = view.goals();
        this.pods = new PodSteps(view);
        this.emptying = new EmptySteps(view);
    }

    /**
     * What came of it.
     *
     * @param goOn steps that go on, with what is done now for each
     * @param waiting what waited at the last look, or may have to wait again
     * @param others what else is done now
     * @param failure why the upgrade has failed, as a part of a sentence; empty when it has not
     * @param beginsAgain whether a step of the way back has just come to nothing, and begins again
     */
    public record Judged(
            List<Verdict.Under> goOn,
            List<StepStatus> waiting,
            List<Action> others,
            Optional<String> failure,
            boolean beginsAgain) {
        private Stream<StepStatus> ofUpgrade() {
            return goOn.stream()
                    .map(Verdict.Under::step)
                    .filter(step -> step.because().isImage());
        }

        /** Whether an upgrade has steps under way. */
        public boolean upgrades() {
            return ofUpgrade().findAny().isPresent();
        }

        /** Ids of storage nodes that an upgrade had begun to empty, and that take part again. */
        public List<String> takenBack() {
            return ofUpgrade()
                    .filter(step -> step.kind() == StepKind.TAKE_BACK)
                    .map(StepStatus::of)
                    .toList();
        }
    }

    /** Looks, with the images that the upgrade in the status brings the pool to. */
    public static Judged look(TransitionView view) {
        StepJudge judge = new StepJudge(view);
        Progress.noted(view).forEach(judge::look);
        return new Judged(judge.goOn, judge.waiting, judge.others, judge.failure, judge.beginsAgain);
    }

    /**
     * What goes on where the upgrade ends, or turns round, in this look: storage nodes that were being emptied take part again. A pod that
     * was told to run another image goes away for it whatever is wanted now, so that its step stays.
     */
    static List<Verdict.Under> withoutUpgrade(Judged judged, TransitionView view) {
        List<Verdict.Under> goOn = new ArrayList<>();
        for (Verdict.Under under : judged.goOn()) {
            StepStatus step = under.step();
            if (!step.because().isImage()
                    || step.kind() == StepKind.TAKE_BACK
                    || view.isPaused(step.of(), step.because())) {
                goOn.add(under);
            } else if (hasStopped(step, view)) {
                goOn.add(
                        new Verdict.Under(step.because() == StepCause.UPGRADE ? Facts.onTheWayBack(step, view) : step));
            } else if (rest(step, view) instanceof Verdict.Under rest) {
                goOn.add(rest);
            }
        }
        return goOn;
    }

    private void look(StepStatus step) {
        if (view.isPaused(step.of(), step.because())) {
            goOn.add(new Verdict.Under(step));
        } else if (step.state() == StepState.WAITING) {
            waits(step);
        } else if (step.kind() == StepKind.TAKE_BACK) {
            take(step, emptying.takeBack(step));
        } else if (isGone(step) && step.kind() == StepKind.EMPTY) {
            forget(step);
        } else if ((isGone(step) && members.get(step.of()).isEmpty()) || isBrokenAndGoes(step)) {
            return;
        } else if (isOnItsWay(step)) {
            goOn.add(new Verdict.Under(step));
        } else if (!isNeeded(step)) {
            take(step, rest(step, view));
        } else if (step.state() == StepState.KEPT || isOnAnother(step)) {
            waiting.add(step);
        } else {
            take(step, judged(ofPresentCause(step)));
        }
    }

    /** Where a cordon comes to a request, or goes from it, time that passed for the one is none for the other. */
    private StepStatus ofPresentCause(StepStatus step) {
        return view.cordon(step.of())
                .map(Cordon::because)
                .filter(cause -> step.because().isOfPlace() && step.because() != cause)
                .map(cause -> view.step(step.of(), step.kind(), cause)
                        .in(step.state(), null)
                        .on(step.machine()))
                .orElse(step);
    }

    /**
     * One that had begun, and had to wait for another turn, leaves a storage node that its leader empties still. Where it is not needed any
     * more that must end as well, or the storage node would take no objects, and no step say why.
     */
    private void waits(StepStatus step) {
        boolean only = view.steps().stream()
                        .filter(other -> other.of().equals(step.of()))
                        .count()
                == 1;
        // Of one that is away its leader does not say.
        boolean mayBeEmptied = step.kind() == StepKind.EMPTY
                && members.node(step.of()).map(node -> !node.ready()).orElse(!members.led());
        if (only && mayBeEmptied && !isNeeded(step)) {
            take(step, rest(step, view));
        } else {
            waiting.add(step);
        }
    }

    private void take(StepStatus step, Verdict verdict) {
        switch (verdict) {
            case Verdict.Done() -> {}
            case Verdict.Under under -> goOn.add(under);
            case Verdict.Failed(String why) -> {
                goOn.add(new Verdict.Under(step.in(StepState.FAILED, why)));
                failure = step.because() == StepCause.UPGRADE ? Optional.of(why) : failure;
            }
        }
    }

    /** It is not there any more, and neither wanted nor unwanted: leaders remember drains, and a later node of its name shall not be emptied. */
    private boolean isGone(StepStatus step) {
        return !members.isMaster(step.of())
                && !goals.wanted().contains(step.of())
                && !goals.unwanted().containsKey(step.of());
    }

    /** A change that failed is not mended any more: it would keep its member from being removed. */
    private boolean isBrokenAndGoes(StepStatus step) {
        return step.because() == StepCause.SETTINGS && step.state() == StepState.FAILED && !goals.want(step.of());
    }

    private void forget(StepStatus step) {
        if (members.led()) {
            others.add(new Action.Cancel(step.of()));
        } else {
            goOn.add(new Verdict.Under(step));
        }
    }

    private boolean isNeeded(StepStatus step) {
        boolean wanted = goals.want(step.of());
        // A pod that is being deleted, or another one in its place, has to come back whatever is wanted now.
        boolean stays = step.kind() == StepKind.EMPTY || Facts.isStillToBeDeleted(step, members);
        return switch (step.because()) {
            case SCALE_DOWN -> !wanted;
            case CORDON, REQUEST ->
                step.kind() == StepKind.HAND_OVER
                        ? goals.isToHandOver(step.of(), members.leader())
                        : wanted && isEmptied(step);
            case SETTINGS ->
                !stays
                        || (wanted
                                && goals.outdated().contains(step.of())
                                && (step.kind() == StepKind.REPLACE
                                        || (view.cordon(step.of()).isEmpty() && view.isMoved(step.of()))));
            case UPGRADE, ROLLBACK ->
                goals.image().filter(image -> image.because() == step.because()).isPresent()
                        && (!stays || (wanted && !members.is(step.of(), view::runsTarget)));
        };
    }

    /** What its volume keeps is moved only for a user: without the request it takes part again before its pod may be evicted with all. */
    private boolean isEmptied(StepStatus step) {
        boolean begun = step.state() != StepState.KEPT && step.state() != StepState.WAITING;
        return view.isCordoned(step.of(), cordon -> cordon.empties() && !(begun && cordon.keeps()));
    }

    /** Its pod may be away by now, or be about to go, though nothing is seen of it yet. A dead machine is not waited for. */
    private static boolean hasStopped(StepStatus step, TransitionView view) {
        return step.before() != null
                && !view.members().is(step.of(), Member::isGone)
                && (step.kind() == StepKind.RESTART
                        || (step.kind() == StepKind.REPLACE && !Facts.isStillToBeDeleted(step, view.members())));
    }

    /** A third image is asked for, and has not begun: until its pod is there again, nothing else begins beside it. */
    private boolean isOnItsWay(StepStatus step) {
        return step.because() == StepCause.ROLLBACK
                && goals.image().isEmpty()
                && hasStopped(step, view)
                && !(view.isNoticed(step) && members.is(step.of(), Member::ready))
                && !view.isOverdue(step);
    }

    /** Its time counts from the moment in which it was seen why it is to be emptied. */
    private boolean isOnAnother(StepStatus step) {
        boolean cordon = step.because().isOfPlace() || step.because() == StepCause.SCALE_DOWN;
        return cordon && !Objects.equals(step.machine(), view.host(step.of(), step.because()));
    }

    /** What remains of a step that is not needed: a storage node that was being emptied takes part again. */
    static Verdict rest(StepStatus step, TransitionView view) {
        Members members = view.members();
        boolean emptied = step.kind() == StepKind.EMPTY && step.state() != StepState.KEPT;
        // Without facts it is not known whether its pod is the one that was emptied.
        boolean replaced = step.kind() == StepKind.REPLACE
                && (step.before() == null || Facts.isToBeDeleted(step, members))
                && members.is(step.of(), it -> !it.master() && (step.because().isImage() || !it.outlives()));
        boolean stays = members.is(step.of(), it -> it.observed().node().equals(step.machine()));
        return emptied || replaced
                ? new Verdict.Under(
                        view.step(step.of(), StepKind.TAKE_BACK, step.because()).on(stays ? step.machine() : null))
                : new Verdict.Done();
    }

    private Verdict judged(StepStatus step) {
        if (step.kind() == StepKind.EMPTY && !view.isWithoutPod(step)) {
            return forgiving(step, orLeftOut(step, emptying.judge(step)));
        }
        Verdict verdict = step.kind() == StepKind.EMPTY ? new Verdict.Under(step) : pods.judge(step);
        if (!(verdict instanceof Verdict.Under under) || step.kind() == StepKind.REMOVE || !view.isOverdue(step)) {
            return forgiving(step, orLeftOut(step, verdict));
        }
        String now = view.now().toString();
        if (Facts.isStillToBeDeleted(step, members)) {
            // It cannot have come back too late that has not been taken away yet, for want of a leader or of an API
            // server that takes writes: its time begins when it is.
            return new Verdict.Under(under.step().begun(now), under.actions());
        }
        if (isImageToBeSet(step) && step.waitsFor() == null) {
            // An API server that took no writes did not take this either: it is tried once more when it does.
            return new Verdict.Under(step.in(StepState.UNDER_WAY, overdue(step)).begun(now), under.actions());
        }
        return forgiving(step, orLeftOut(step, new Verdict.Failed(overdue(step))));
    }

    private boolean isImageToBeSet(StepStatus step) {
        return step.kind() == StepKind.RESTART
                && members.is(step.of(), member -> Facts.isStillThere(step, member) && !view.runsTarget(member));
    }

    /** A dead machine says nothing of the image. What is to be emptied there takes part again when it is back, until its turn comes. */
    private Verdict orLeftOut(StepStatus step, Verdict verdict) {
        if (!members.is(step.of(), Member::isGone) || !(verdict instanceof Verdict.Failed)) {
            return verdict;
        }
        return step.kind() == StepKind.EMPTY ? rest(step, view) : new Verdict.Done();
    }

    private String overdue(StepStatus step) {
        String time = "within " + view.terms().upgrade().stepTimeout();
        if (isImageToBeSet(step)) {
            return "the API server did not change the image of %s %s".formatted(step.of(), time);
        }
        if (step.kind() == StepKind.HAND_OVER) {
            return "%s did not hand its leadership over %s".formatted(step.of(), time);
        }
        Optional<Member> member = members.get(step.of());
        String why = member.map(Member::trouble)
                .or(() -> members.whyMissing(step.of()))
                .filter(text -> !text.isEmpty())
                .or(() -> members.isMaster(step.of()) ? members.lack(step.of()) : Optional.empty())
                .map(Parentheses::of)
                .orElse("");
        return "%s did not get ready %s%s".formatted(member.map(Member::pod).orElse(step.of()), time, why);
    }

    /**
     * On the way back what is under way is begun again, until it works: there is nothing else to go to. One that is to have other settings
     * as well is recreated with them.
     */
    private Verdict forgiving(StepStatus step, Verdict verdict) {
        if (!(verdict instanceof Verdict.Failed) || step.because() != StepCause.ROLLBACK) {
            return verdict;
        }
        boolean over = members.is(
                step.of(),
                it -> view.runsTarget(it)
                        && !it.leaving()
                        && (it.ready() || goals.outdated().contains(it.id())));
        if (over || step.kind() == StepKind.HAND_OVER || members.get(step.of()).isEmpty()) {
            return new Verdict.Done();
        }
        beginsAgain = true;
        return new Verdict.Under(view.begin(step.of(), step.kind(), step.because()));
    }
}
