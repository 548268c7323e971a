// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.member.Members;
import java.util.List;
import java.util.Optional;

/**
 * How the steps stand that stop a pod. A restart is done when another process runs the image, is ready, and has caught up; a storage
 * node also must have brought back what the leader knew it to hold, object for object.
 */
final class PodSteps {
    private final TransitionView view;
    private final Members members;
    private final Steps known;

    PodSteps(TransitionView view) {
        this.view = view;
        this.members = view.members();
        this.known = new Steps(view, view.steps());
    }

    Verdict judge(StepStatus step) {
        if (step.kind() == StepKind.HAND_OVER) {
            return handOver(step);
        }
        Optional<Member> member = members.get(step.of());
        boolean gone = member.isEmpty() || member.get().leaving();
        if (step.kind() == StepKind.REMOVE) {
            // One that has come to lead since the step began hands over before.
            return gone || members.handsOver(member.get()) ? new Verdict.Done() : new Verdict.Under(step);
        }
        if (gone) {
            return new Verdict.Under(step);
        }
        if (step.before() == null) {
            return withoutFacts(step, member.get());
        }
        if ((!isTouched(step, member.get()) && !maySpare(step, member.get())) || isToBeEmptied(step, member.get())) {
            return new Verdict.Done();
        }
        return step.kind() == StepKind.RESTART ? restart(step, member.get()) : replace(step, member.get());
    }

    /**
     * Its status was edited by hand, or written by a version that has other facts. A pod that is as it was before is planned again, with
     * facts. Of one that has come to what the step is for, all is awaited that can be seen without them, or the upgrade would not notice
     * that it does not come up.
     */
    private Verdict withoutFacts(StepStatus step, Member member) {
        boolean asBefore = step.because().isImage()
                ? !view.runsTarget(member)
                : view.goals().outdated().contains(member.id());
        if (asBefore) {
            return StepJudge.rest(step, view);
        }
        if (step.kind() == StepKind.REPLACE) {
            return back(step, member, member.serves());
        }
        return member.ready() && view.isNoticed(step) ? caughtUp(step, member) : new Verdict.Under(step);
    }

    /** What was so when the step began may be otherwise now: it begins again in its turn. */
    private boolean maySpare(StepStatus step, Member member) {
        if (!member.ready()) {
            return true;
        }
        return member.master()
                ? maySpareMaster(step, member)
                : step.kind() != StepKind.RESTART || known.hasRoom(step.of());
    }

    /** Several that are not ready are begun at a time, and may have got ready since: a master goes with no other. */
    private boolean maySpareMaster(StepStatus step, Member member) {
        if (known.first(Steps::isStopped)
                .filter(first -> first.of().equals(step.of()))
                .isEmpty()) {
            return false;
        }
        List<Member> others = members.masters().stream()
                .filter(it -> !it.pod().equals(member.pod()) && !it.isGone())
                .toList();
        boolean well = !others.isEmpty() && others.stream().allMatch(Member::ready);
        return members.masters().size() == 1 || (well && !members.leads(member.pod()));
    }

    private boolean isTouched(StepStatus step, Member member) {
        return !Facts.isStillThere(step, member) || (step.kind() == StepKind.RESTART && view.runsTarget(member));
    }

    /**
     * The image that is to be set may be unable to read what was put there since the step began: what was not ready then, or a pod that was
     * made again with another image, has taken part meanwhile; or it was put there before by an image that is not wanted any more, with which the
     * step began. It begins again in its turn, and is emptied before.
     */
    private boolean isToBeEmptied(StepStatus step, Member member) {
        boolean isSetNow = step.because().isImage()
                && !view.runsTarget(member)
                && (step.kind() == StepKind.RESTART || !Facts.isStillThere(step, member));
        return isSetNow
                && !member.master()
                && view.goals().image().orElseThrow().emptied()
                && (member.ready()
                        || !(member.holdsNothing()
                                || (Facts.isUnmet(step, member) && Facts.isOfAnotherImage(step, member))));
    }

    private Verdict imageSet(StepStatus step, Member member) {
        return new Verdict.Under(step, Action.setImage(member, view.target(member)));
    }

    private Verdict restart(StepStatus step, Member member) {
        boolean samePod = Facts.isStillThere(step, member);
        if (!view.runsTarget(member)) {
            // A pod that was replaced meanwhile counts its restarts from 0, which must be written down before it is
            // touched.
            return samePod ? imageSet(step, member) : new Verdict.Under(Facts.about(step, member));
        }
        if (samePod && member.observed().specImage().equals(step.before().specImage())) {
            // Admission wrote the same digest for both references, so that the container simply goes on.
            return member.ready() && view.isNoticed(step) ? new Verdict.Done() : new Verdict.Under(step);
        }
        boolean another = !samePod || runsAnother(step, member);
        return another && member.ready() ? caughtUp(step, member) : new Verdict.Under(step);
    }

    /**
     * Whether the image has been started in the pod as it is. The old one may crash, and be restarted, before the kubelet knows of the
     * other; what runs tells them apart. Where that has the same id, or the kubelet names none, the other has been noticed by now.
     */
    private boolean runsAnother(StepStatus step, Member member) {
        String ran = step.before().image();
        String running = member.observed().running();
        boolean nothingRan = "".equals(ran) && step.before().restarts() == 0;
        boolean restarted = member.observed().restarts() > step.before().restarts() || nothingRan;
        boolean differs = ran != null && !ran.isEmpty() && !running.isEmpty() && !running.equals(ran);
        return differs || (restarted && view.isNoticed(step));
    }

    private Verdict replace(StepStatus step, Member member) {
        if (Facts.isStillThere(step, member)) {
            return delete(step, member);
        }
        if (step.because().isImage() && !view.runsTarget(member)) {
            return imageSet(step, member);
        }
        return back(
                step,
                member,
                member.isSeen(node -> !node.incarnation().equals(step.before().incarnation())));
    }

    /** Whether a pod that was made again takes part as the one before did. */
    private Verdict back(StepStatus step, Member member, boolean another) {
        if (another && member.isSeen(PoolReport.Node::leaves)) {
            // Leaders remember for each other what is being emptied.
            return new Verdict.Under(step, new Action.Cancel(member.id()));
        }
        boolean back = member.master() ? isWarm(member) : another && member.serves();
        return back && member.ready() ? new Verdict.Done() : new Verdict.Under(step);
    }

    /** A storage node whose pod takes with it what it holds must be empty now: what an earlier leader said does not count. */
    private Verdict delete(StepStatus step, Member member) {
        boolean settings = !step.because().isImage();
        boolean mayGo = member.master()
                || (settings && member.outlives())
                || view.terms().mayLoseBytes()
                || !member.started()
                || (step.state() == StepState.EMPTY && Facts.isUnmet(step, member))
                || (step.state() == StepState.DROPPED && view.terms().dropsLeftovers())
                || member.isSeen(node -> EmptySteps.isEmpty(step, node));
        if (mayGo) {
            return new Verdict.Under(step, Action.deletePod(member));
        }
        if (!members.led()) {
            return new Verdict.Under(step);
        }
        // One that was not there has come back before it was deleted: that it is emptied begins in its turn.
        return step.state() == StepState.EMPTY
                ? new Verdict.Done()
                : new Verdict.Under(view.begin(step.of(), StepKind.EMPTY, step.because()));
    }

    private boolean isWarm(Member master) {
        return members.answers(master.pod()) && members.lack(master.pod()).isEmpty();
    }

    private Verdict caughtUp(StepStatus step, Member member) {
        if (member.master()) {
            return isWarm(member) ? new Verdict.Done() : new Verdict.Under(step);
        }
        if (member.isSeen(PoolReport.Node::leaves) && view.cordon(step.of()).isEmpty()) {
            // It was to be empty when the step began, which took the place of the one that said so.
            return new Verdict.Under(step, new Action.Cancel(member.id()));
        }
        return member.node()
                .filter(PoolReport.Node::serves)
                .filter(node -> step.before() == null
                        || !node.incarnation().equals(step.before().incarnation()))
                .map(node -> complete(step, node))
                .orElseGet(() -> new Verdict.Under(step));
    }

    /** The leader has compared ids; one that could not, because it had not known the node before, leaves us the numbers. */
    private static Verdict complete(StepStatus step, PoolReport.Node node) {
        if (node.lostAtReturn() != null) {
            return node.lostAtReturn() == 0
                    ? new Verdict.Done()
                    : new Verdict.Failed("%s came back without %d of its objects (%d records dropped)"
                            .formatted(node.id(), node.lostAtReturn(), dropped(node)));
        }
        long had = step.before() == null || step.before().objects() == null
                ? 0
                : step.before().objects();
        long has = node.life().restored() == null ? 0 : node.life().restored().objects();
        return dropped(node) > 0 || (had > 0 && has == 0)
                ? new Verdict.Failed("%s came back with %d objects of about %d (%d records dropped)"
                        .formatted(node.id(), has, had, dropped(node)))
                : new Verdict.Done();
    }

    private static long dropped(PoolReport.Node node) {
        return node.life().restored() == null ? 0 : node.life().restored().droppedRecords();
    }

    private Verdict handOver(StepStatus step) {
        Optional<PoolReport> leader = members.leader();
        if (leader.isEmpty()) {
            return new Verdict.Under(step);
        }
        if (!leader.get().name().equals(step.of())) {
            return new Verdict.Done();
        }
        if (step.state() == StepState.FAILED && step.because() == StepCause.REQUEST) {
            // One that has failed counts as nothing that is under way, and so does nothing.
            return new Verdict.Under(step);
        }
        if (step.epoch() == null) {
            // Written before it is asked: a later epoch of the same master tells that it was, for nothing.
            return new Verdict.Under(step.told(leader.get().epoch(), step.since()));
        }
        return leader.get().epoch() > step.epoch()
                ? new Verdict.Failed("no other master took the leadership that %s gave away".formatted(step.of()))
                : new Verdict.Under(step, new Action.HandOver(step.of()));
    }
}
