// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.RollStepKind;
import dev.kvpool.api.v1alpha1.RollStepStatus;
import dev.kvpool.operator.master.PoolReport;
import java.util.List;
import java.util.Optional;

/**
 * How a step under way stands. A restart is done when another process runs the image, is ready, and everybody who must know
 * it has caught up with it; a storage node also must have brought back what the leader knew it to hold, object for object.
 */
final class Judgement {
    private final RollView view;
    private final Target target;
    private final boolean back;
    private final TakeBack takeBack;

    /**
     * @param back whether the pool goes back: then no step fails any more, since there is nothing else to go to
     */
    Judgement(RollView view, Target target, boolean back) {
        this.view = view;
        this.target = target;
        this.back = back;
        this.takeBack = new TakeBack(view);
    }

    sealed interface Verdict {
        record Done() implements Verdict {}

        /** Not done, with what must be done for it now. */
        record Under(List<RollAction> actions) implements Verdict {}

        /** Goes on as another step, once that is written down. */
        record Becomes(RollStepStatus step) implements Verdict {}

        record Failed(String why) implements Verdict {}
    }

    private static final Verdict WAIT = new Verdict.Under(List.of());

    Verdict of(RollStepStatus step) {
        if (step.isGivenUp() || (back && takeBack.concerns(step, target.storage()))) {
            return takeBack.judge(step);
        }
        if (step.kind() == RollStepKind.DRAIN && view.leader().isEmpty()) {
            // No leader empties it: that time does not count, and what a later leader has moved does.
            return view.isNoteDue(step)
                    ? new Verdict.Becomes(step.progressed(view.now().toString(), null))
                    : WAIT;
        }
        Optional<Instance> instance = view.instance(step);
        Verdict verdict = instance.isEmpty() || instance.get().leaving() ? WAIT : of(step, instance.get());
        if (verdict instanceof Verdict.Under && view.isOverdue(step)) {
            verdict = new Verdict.Failed(overdue(step, instance));
        }
        if (verdict instanceof Verdict.Failed
                && instance.filter(Instance::isGone).isPresent()) {
            return leftOut(step);
        }
        return back ? forgiving(step, verdict) : verdict;
    }

    /** A dead machine says nothing of the image. What is to be emptied there takes part again when it is back, until its turn comes. */
    private Verdict leftOut(RollStepStatus step) {
        return step.kind() == RollStepKind.DRAIN
                ? new Verdict.Becomes(step.givenUp(view.now().toString()))
                : new Verdict.Done();
    }

    private String overdue(RollStepStatus step, Optional<Instance> instance) {
        String pod = instance.map(Instance::pod).orElse(step.pod());
        if (step.kind() == RollStepKind.DRAIN) {
            return "%s was not emptied any further for %d s"
                    .formatted(pod, view.timeOf(step).toSeconds());
        }
        String why = instance.map(Instance::trouble)
                .filter(text -> !text.isEmpty())
                .or(() -> view.isMaster(pod) ? new WarmMasters(view).lack(pod) : Optional.empty())
                .orElse("");
        return "%s did not get ready within %s%s"
                .formatted(pod, view.options().stepTimeout(), why.isEmpty() ? "" : " (" + why + ")");
    }

    private Verdict of(RollStepStatus step, Instance instance) {
        return switch (step.kind()) {
            case RESTART -> restart(step, instance);
            case HAND_OVER -> handOver(step);
            case DRAIN -> drain(step, instance);
            case REPLACE -> replace(step, instance);
        };
    }

    /** Who cannot go over must go back: then what is under way is begun anew, until it works. Who has gone has nothing to go back. */
    private Verdict forgiving(RollStepStatus step, Verdict verdict) {
        if (!(verdict instanceof Verdict.Failed)) {
            return verdict;
        }
        boolean restarted = view.instance(step)
                .filter(instance -> instance.runs(imageOf(instance)) && instance.ready() && !instance.leaving())
                .isPresent();
        return restarted || step.kind() == RollStepKind.HAND_OVER
                ? new Verdict.Done()
                : view.instance(step)
                        .<Verdict>map(instance -> new Verdict.Becomes(Steps.begin(view, instance, step.kind())))
                        .orElseGet(Verdict.Done::new);
    }

    private String imageOf(Instance instance) {
        return target.of(view.isMaster(instance.pod()));
    }

    private Verdict imageSet(Instance instance) {
        return new Verdict.Under(List.of(new RollAction.SetImage(instance.pod(), instance.uid(), imageOf(instance))));
    }

    private Verdict restart(RollStepStatus step, Instance instance) {
        boolean samePod = instance.uid().equals(step.uid());
        if (!instance.runs(imageOf(instance))) {
            // A pod that was made anew meanwhile counts its restarts from 0, which must be written down before it is
            // touched.
            return samePod
                    ? imageSet(instance)
                    : new Verdict.Becomes(step.about(
                            instance.pod(), instance.uid(), instance.restarts(), instance.ran(), instance.specImage()));
        }
        if (samePod && instance.specImage().equals(step.specImage())) {
            // Admission wrote the same digest for both references, so that the container simply goes on.
            return instance.ready() && view.isNoticed(step) ? new Verdict.Done() : WAIT;
        }
        boolean another = !samePod || runsAnother(step, instance);
        return another && instance.ready() ? caughtUp(step, instance) : WAIT;
    }

    /**
     * Whether the image has been started in the pod as it is. The old one may crash, and be started anew, before the kubelet knows of
     * the other; what runs tells them apart. Where that has the same id, or the kubelet names none, the other has been noticed by now.
     */
    private boolean runsAnother(RollStepStatus step, Instance instance) {
        boolean nothingRan = "".equals(step.image()) && step.restarts() == 0;
        boolean restarted = instance.restarts() > step.restarts() || nothingRan;
        boolean known = step.image() != null && !step.image().isEmpty();
        if (known && !instance.running().isEmpty() && !instance.running().equals(step.image())) {
            return true;
        }
        return restarted && view.isNoticed(step);
    }

    private Verdict replace(RollStepStatus step, Instance instance) {
        if (instance.uid().equals(step.uid())) {
            return new Verdict.Under(List.of(new RollAction.DeletePod(instance.pod(), instance.uid())));
        }
        if (!instance.runs(imageOf(instance))) {
            return imageSet(instance);
        }
        return instance.ready() && isBack(step, instance).isPresent() ? new Verdict.Done() : WAIT;
    }

    private Verdict caughtUp(RollStepStatus step, Instance instance) {
        if (view.isMaster(step.pod())) {
            boolean warm = view.answering().contains(step.pod())
                    && new WarmMasters(view).lack(step.pod()).isEmpty();
            return warm ? new Verdict.Done() : WAIT;
        }
        Optional<PoolReport.Node> node = isBack(step, instance);
        return node.isEmpty() ? WAIT : complete(step, node.get());
    }

    /** The storage node as the leader sees it, when that is another process than before and all of it is known. */
    private Optional<PoolReport.Node> isBack(RollStepStatus step, Instance instance) {
        return view.node(instance)
                .filter(PoolReport.Node::ready)
                .filter(node -> !node.incarnation().equals(step.incarnation()));
    }

    /** The leader has compared ids; one that could not, because it had not known the node before, leaves us the numbers. */
    private static Verdict complete(RollStepStatus step, PoolReport.Node node) {
        if (node.lostAtReturn() != null) {
            return node.lostAtReturn() == 0
                    ? new Verdict.Done()
                    : new Verdict.Failed("%s came back without %d of its objects (%d records dropped)"
                            .formatted(node.id(), node.lostAtReturn(), dropped(node)));
        }
        boolean had = step.objects() != null && step.objects() > 0;
        boolean has = node.restored() != null && node.restored().objects() > 0;
        boolean lost = dropped(node) > 0 || (had && !has);
        return lost
                ? new Verdict.Failed("%s came back with %d objects of about %d (%d records dropped)"
                        .formatted(
                                node.id(),
                                node.restored() == null ? 0 : node.restored().objects(),
                                step.objects() == null ? 0 : step.objects(),
                                dropped(node)))
                : new Verdict.Done();
    }

    private static long dropped(PoolReport.Node node) {
        return node.restored() == null ? 0 : node.restored().droppedRecords();
    }

    private Verdict handOver(RollStepStatus step) {
        if (view.leader().isEmpty()) {
            return WAIT;
        }
        PoolReport leader = view.leader().get();
        if (!leader.name().equals(step.pod())) {
            return new Verdict.Done();
        }
        return step.epoch() != null && leader.epoch() > step.epoch()
                ? new Verdict.Failed("no other master took the leadership that %s gave away".formatted(step.pod()))
                : new Verdict.Under(List.of(new RollAction.HandOver(step.pod())));
    }

    private Verdict drain(RollStepStatus step, Instance instance) {
        Optional<PoolReport.Node> node = view.node(instance);
        if (node.isEmpty()) {
            return WAIT;
        }
        Verdict clear = new Verdict.Under(List.of(new RollAction.Clear(instance.id())));
        if (!node.get().drained() && !node.get().draining()) {
            return clear;
        }
        long left = node.get().objectsLeft() == null ? 0 : node.get().objectsLeft();
        if (left > 0 && view.isProgress(step, left)) {
            return new Verdict.Becomes(step.progressed(view.now().toString(), left));
        }
        if (node.get().draining() && (left == 0 || back)) {
            return WAIT;
        }
        if (left > 0 && !view.isStuck(step)) {
            // A large node takes longer than the leader's own limit for one drain.
            return node.get().draining() ? WAIT : clear;
        }
        if (left == 0 && node.get().objects() > 0) {
            // Emptied for another reason, or by a leader that is none any more: copies of what others have are there,
            // and the new version touches no segment that is not empty.
            return clear;
        }
        if (left == 0 || view.mayLoseBytes()) {
            return new Verdict.Becomes(Steps.begin(view, instance, RollStepKind.REPLACE));
        }
        // On the way back it is tried until there is room.
        return back
                ? clear
                : new Verdict.Failed(
                        "%s could not be emptied, %d of its objects have no other place: add a storage node, or set spec.onDataLoss to Replace"
                                .formatted(step.pod(), left));
    }
}
