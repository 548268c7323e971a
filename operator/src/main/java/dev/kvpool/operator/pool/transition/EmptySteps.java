// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.member.Cordon;
import dev.kvpool.operator.pool.member.Members;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * How the steps stand that empty a storage node, and that take one back. A storage node may go when the leader of this moment says that
 * nothing is left there: what an earlier leader said counts no more, and one that does not know that the node is to go is told again.
 */
final class EmptySteps {
    /** What a leader says may be as old as its last tick; for so long it is told again. */
    private static final Duration SETTLED = Duration.ofSeconds(5);

    private final TransitionView view;
    private final Members members;

    EmptySteps(TransitionView view) {
        this.view = view;
        this.members = view.members();
    }

    /** Nothing is left that others do not have; before another image, nothing at all. */
    static boolean isEmpty(StepStatus step, PoolReport.Node node) {
        return node.drained()
                && node.objectsLeft() != null
                && node.objectsLeft() == 0
                && (!step.because().isImage() || node.objects() == 0);
    }

    Verdict judge(StepStatus step) {
        boolean comesBack = Transition.stops(StepKind.EMPTY, step.because());
        boolean stays = members.is(step.of(), it -> !it.leaving());
        if (comesBack && !stays) {
            return new Verdict.Under(step);
        }
        Optional<PoolReport.Node> node = members.node(step.of());
        boolean empty = node.filter(it -> isEmpty(step, it)).isPresent();
        if (comesBack) {
            return empty ? replaced(step, StepState.UNDER_WAY) : comingBack(step, node);
        }
        if (!empty && step.state() == StepState.EMPTY && step.because().isOfPlace()) {
            // What a new leader finds is not the rest of what was there. One that is being evicted is away, and takes
            // part again later.
            return members.led() && stays ? new Verdict.Done() : new Verdict.Under(step);
        }
        Verdict.Under next = filled(step, empty ? StepState.EMPTY : state(step, node), node);
        boolean tells =
                !empty && (step.state() != StepState.DROPPED || step.because().isOfPlace());
        return tells ? next : new Verdict.Under(next.step());
    }

    private Verdict replaced(StepStatus step, StepState state) {
        return new Verdict.Under(
                view.begin(step.of(), StepKind.REPLACE, step.because()).in(state, null));
    }

    /** One that is replaced once it is empty. */
    private Verdict comingBack(StepStatus step, Optional<PoolReport.Node> node) {
        if (isFilledInVain(step, node)) {
            return StepJudge.rest(step, view);
        }
        boolean overdue = isOverdue(step, node);
        if (overdue && mayDrop(step)) {
            return replaced(step, StepState.DROPPED);
        }
        boolean silent = members.led()
                && view.idle(step).compareTo(view.terms().drainTimeout().plus(view.stepTimeout())) > 0;
        return switch (step.because()) {
            case UPGRADE -> overdue || silent ? failed(step, node) : filled(step, StepState.UNDER_WAY, node);
            // It is tried until there is room: there is nothing else to go to.
            case ROLLBACK -> silent ? failed(step, node) : filled(step, StepState.UNDER_WAY, node);
            // Storage nodes that are all emptied at the same time wait for each other for ever: those that come back
            // take objects meanwhile.
            default ->
                overdue && (members.takers(step.of()).findAny().isEmpty() || isOtherStuck() || isUpgradeDue())
                        ? StepJudge.rest(step, view)
                        : filled(step, overdue ? StepState.LEFTOVERS : StepState.UNDER_WAY, node);
        };
    }

    /**
     * It was put there after it was seen to hold nothing, or the others have gone since: nothing can be moved, and while it is emptied there
     * may be no place to put anything. It begins again when another one is ready. The only one of a pool is emptied for another image all the
     * same.
     */
    private boolean isFilledInVain(StepStatus step, Optional<PoolReport.Node> node) {
        boolean waits = step.because() == StepCause.SETTINGS
                || (step.because() == StepCause.UPGRADE && members.storage().size() > 1);
        return waits
                && node.filter(it -> it.objects() > 0).isPresent()
                && !mayDrop(step)
                && members.takers(step.of()).findAny().isEmpty();
    }

    /** One that goes may need the room of one that comes back, which begins again when the other has gone. */
    private boolean isOtherStuck() {
        return view.steps().stream()
                .anyMatch(step -> step.state() == StepState.LEFTOVERS && step.because() == StepCause.SCALE_DOWN);
    }

    /** It may be what the pool needs, and comes first: what could not be emptied begins again after it. */
    private boolean isUpgradeDue() {
        return view.goals()
                .image()
                .filter(goal -> !goal.paused() && !new Behind(view, goal).isEmpty())
                .isPresent();
    }

    private Verdict failed(StepStatus step, Optional<PoolReport.Node> node) {
        Long left = Progress.left(step, view);
        long objects = left != null ? left : node.map(PoolReport.Node::objects).orElse(0L);
        return new Verdict.Failed(
                "%s could not be emptied, %d of its objects have no other place: add a storage node, or set spec.onDataLoss to Replace"
                        .formatted(step.of(), objects));
    }

    private boolean mayDrop(StepStatus step) {
        return view.terms().mayLoseBytes()
                || (!step.because().isImage() && view.terms().dropsLeftovers());
    }

    /** It goes, or may be evicted, once that is written down, so that it is known later why it has gone. */
    private StepState state(StepStatus step, Optional<PoolReport.Node> node) {
        boolean overdue = isOverdue(step, node);
        boolean dropped = step.because() == StepCause.SCALE_DOWN
                && overdue
                && view.terms().dropsLeftovers()
                && !isOneKeptEmpty();
        if (dropped || isWaitedForTooLong(step)) {
            return StepState.DROPPED;
        }
        return overdue ? StepState.LEFTOVERS : StepState.UNDER_WAY;
    }

    /** A storage node that stays and is empty, as a user wants it, has room once that is taken back: nothing is dropped for want of it. */
    private boolean isOneKeptEmpty() {
        return view.steps().stream()
                .anyMatch(step -> step.because() == StepCause.REQUEST && step.state() == StepState.EMPTY);
    }

    /** Whether anything is moved only a leader can tell, and one that still puts objects there has not begun. */
    private boolean isOverdue(StepStatus step, Optional<PoolReport.Node> node) {
        return members.led()
                && node.filter(PoolReport.Node::ready).isEmpty()
                && view.idle(step).compareTo(view.terms().drainTimeout()) >= 0;
    }

    /** Also while no master leads: maintenance of a machine does not wait for one. */
    boolean isWaitedForTooLong(StepStatus step) {
        return step.machine() != null
                && view.isCordoned(step.of(), Cordon::evicts)
                && view.idle(step).compareTo(view.terms().nodeTimeout()) >= 0;
    }

    /** One that the leader calls drained though something is left had its time there: it is begun again. */
    private Verdict.Under filled(StepStatus step, StepState state, Optional<PoolReport.Node> node) {
        Optional<String> why = state == StepState.EMPTY ? Optional.empty() : StepWords.whyNotEmpty(members.led(), node);
        StepStatus next = step.in(state, why.orElse(null))
                .left(
                        node.map(PoolReport.Node::objectsLeft)
                                .map(StepWords::rounded)
                                .orElse(null),
                        node.flatMap(StepWords::bytes).orElse(null));
        return node.filter(it -> it.ready() || it.drained()).isPresent()
                ? new Verdict.Under(
                        next, new Action.Empty(step.of(), step.because().isImage()))
                : new Verdict.Under(next);
    }

    /** The time counts while there is a leader to be told: of a node that is away it is not known whether it takes part. */
    Verdict takeBack(StepStatus step) {
        String now = view.now().toString();
        if (!members.led()) {
            return new Verdict.Under(
                    step.epoch() == null ? step : step.withoutFacts().begun(now));
        }
        if (step.epoch() == null) {
            return new Verdict.Under(step.told(members.leader().get().epoch(), now), new Action.Cancel(step.of()));
        }
        boolean leaves = members.isSeen(step.of(), PoolReport.Node::leaves);
        Duration told = Duration.between(Instant.parse(step.since()), view.now());
        return leaves || told.compareTo(SETTLED) < 0
                ? new Verdict.Under(step, new Action.Cancel(step.of()))
                : new Verdict.Done();
    }
}
