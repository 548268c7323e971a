// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepFacts;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.member.Members;

/** What is written down when a step begins, and must differ when it is done. */
final class Facts {
    private Facts() {}

    static StepStatus noted(StepStatus step, Member member, TransitionView view) {
        return switch (step.kind()) {
            case EMPTY, REMOVE, TAKE_BACK -> step;
            case HAND_OVER ->
                view.members()
                        .leader()
                        .map(leader -> step.told(leader.epoch(), step.since()))
                        .orElse(step);
            case RESTART, REPLACE ->
                step.with(of(
                        step,
                        member,
                        member.node()
                                .map(PoolReport.Node::incarnation)
                                .filter(text -> !text.isEmpty())
                                .orElse(null),
                        member.node().map(PoolReport.Node::objects).orElse(null)));
        };
    }

    private static StepFacts of(StepStatus step, Member member, String incarnation, Long objects) {
        return new StepFacts(
                step.of(),
                step.because(),
                member.uid(),
                member.observed().restarts(),
                incarnation,
                objects,
                member.ran(),
                member.observed().specImage(),
                null);
    }

    /**
     * The same step, about another pod in the place of the one it began with. On the way back, where nothing can be lost by an upgrade any
     * more, it is not expected to hold what was in the memory of the one before.
     */
    static StepStatus about(StepStatus step, Member other) {
        boolean fresh = step.because() == StepCause.ROLLBACK && !other.outlives();
        return step.with(of(
                step,
                other,
                step.before().incarnation(),
                fresh ? null : step.before().objects()));
    }

    /** A step of an upgrade as one of the way back, with what was noted when it began: what must differ from that differs still. */
    static StepStatus onTheWayBack(StepStatus step, TransitionView view) {
        return view.step(step.of(), step.kind(), StepCause.ROLLBACK)
                .with(step.before().as(StepCause.ROLLBACK));
    }

    /** The pod is the one with which the step began. */
    static boolean isStillThere(StepStatus step, Member member) {
        return step.before() != null && member.uid().equals(step.before().uid());
    }

    /**
     * The pod that a step made never came back from it, nor has any leader met its process, so that its memory holds nothing: it may be
     * replaced though nothing can be moved from it.
     */
    static boolean isReplacedInVain(StepStatus step, Member member) {
        return step.kind() == StepKind.REPLACE
                && step.because() == StepCause.SETTINGS
                && step.state() == StepState.FAILED
                && step.before() != null
                && !isStillThere(step, member)
                && !member.outlives()
                && isUnmet(step, member);
    }

    /** Nothing was put there since the step began. */
    static boolean isUnmet(StepStatus step, Member member) {
        StepFacts before = step.before();
        boolean unmet = member.isSeen(node -> node.incarnation().equals(before.incarnation())
                && (before.objects() == null || node.objects() <= before.objects()));
        return !member.ready() && (unmet || member.holdsNothing());
    }

    /** What was there when the step began was not put there by the image that its pod has now, or is there no more. */
    static boolean isOfAnotherImage(StepStatus step, Member member) {
        boolean gone = !member.outlives()
                && (!isStillThere(step, member) || step.before().objects() == null);
        return gone || !member.observed().specImage().equals(step.before().specImage());
    }

    /** A pod that was deleted and is still there, or was not deleted yet. */
    static boolean isToBeDeleted(StepStatus step, Members members) {
        return step.kind() == StepKind.REPLACE && members.is(step.of(), member -> isStillThere(step, member));
    }

    /** It was not deleted yet. */
    static boolean isStillToBeDeleted(StepStatus step, Members members) {
        return isToBeDeleted(step, members) && !members.is(step.of(), Member::leaving);
    }
}
