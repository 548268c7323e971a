// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.RollMode;
import dev.kvpool.api.v1alpha1.RollPhase;
import dev.kvpool.api.v1alpha1.RollStatus;
import dev.kvpool.api.v1alpha1.RollStepKind;
import dev.kvpool.api.v1alpha1.RollStepStatus;
import dev.kvpool.operator.pool.roll.Judgement.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Brings masters and storage nodes to an image, step by step: first what is broken anyway, then standbys, then the leader
 * after it gave its leadership away, then storage nodes within the budget. A step begins only when everything else is well.
 */
final class Steps {
    private static final String EMPTIED_ON_THE_WAY_BACK =
            " is emptied for as long as it takes (if others have no room add a storage node, or set spec.onDataLoss to Replace)";

    private final RollView view;

    Steps(RollView view) {
        this.view = view;
    }

    /**
     * What comes of a look at the steps.
     *
     * @param steps steps under way from now on
     * @param actions what the steps that were already under way need
     * @param finished nothing is left to be done
     * @param failure why the upgrade has failed, as a part of a sentence; empty when it has not
     * @param sentence what is under way or waited for
     */
    record Outcome(
            List<RollStepStatus> steps,
            List<RollAction> actions,
            boolean finished,
            Optional<String> failure,
            String sentence) {}

    /**
     * One look.
     *
     * @param keep how many storage nodes keep the image they have
     */
    Outcome advance(RollStatus roll, Target target, int keep) {
        boolean back = isBack(roll);
        Judgement judgement = new Judgement(view, target, back);
        List<RollStepStatus> goOn = new ArrayList<>();
        List<RollAction> actions = new ArrayList<>();
        for (RollStepStatus step : roll.steps()) {
            switch (judgement.of(step)) {
                case Verdict.Done() -> {}
                case Verdict.Under(List<RollAction> needed) -> {
                    goOn.add(step);
                    actions.addAll(needed);
                }
                case Verdict.Becomes(RollStepStatus other) -> goOn.add(other);
                case Verdict.Failed(String why) -> {
                    return new Outcome(List.of(), List.of(), false, Optional.of(why), "");
                }
            }
        }
        if (!goOn.equals(roll.steps())) {
            return new Outcome(goOn, actions, false, Optional.empty(), "A step is done.");
        }
        int kept = back ? 0 : Math.min(keep, view.storage().size());
        boolean drained = roll.mode() == RollMode.DRAINED;
        Behind behind = new Behind(view, target, kept, drained || isAboutStragglers(roll));
        boolean paused = view.options().paused() && !back;
        if (!paused) {
            actions.addAll(behind.unasked(target));
        }
        if (behind.isNobody() && goOn.isEmpty()) {
            boolean keepsSome = view.storage().stream().limit(kept).anyMatch(node -> !node.runs(target.storage()));
            return new Outcome(
                    List.of(),
                    actions,
                    !keepsSome,
                    Optional.empty(),
                    ((keepsSome ? kept(kept) : "") + behind.leftOutSentence()).strip());
        }
        if (paused) {
            return new Outcome(goOn, actions, false, Optional.empty(), "It is paused: spec.upgrade.paused is true.");
        }
        Choice.Next next = new Choice(view, behind, drained, back, goOn).next();
        goOn.addAll(next.steps());
        return new Outcome(
                goOn,
                actions,
                false,
                Optional.empty(),
                describe(roll, goOn, next.waitsFor()) + behind.leftOutSentence());
    }

    /** Of an upgrade that brings over who was left out of an earlier one. */
    static boolean isAboutStragglers(RollStatus roll) {
        return roll.from().equals(roll.image());
    }

    private static String kept(int count) {
        return "The first %d storage nodes keep the version they run: spec.upgrade.partition is %d."
                .formatted(count, count);
    }

    /** One look at what is left of an earlier upgrade before the next one is begun. */
    Outcome settle(RollStatus roll) {
        TakeBack takeBack = new TakeBack(view);
        List<RollStepStatus> goOn = new ArrayList<>();
        List<RollAction> actions = new ArrayList<>();
        for (RollStepStatus step : roll.steps()) {
            switch (takeBack.judge(step)) {
                case Verdict.Under(List<RollAction> needed) -> {
                    goOn.add(step);
                    actions.addAll(needed);
                }
                case Verdict.Becomes(RollStepStatus other) -> goOn.add(other);
                case Verdict.Done done -> {}
                case Verdict.Failed failed -> {}
            }
        }
        String sentence = String.join(", ", goOn.stream().map(Steps::takenBack).toList());
        return new Outcome(goOn, actions, goOn.isEmpty(), Optional.empty(), sentence);
    }

    private static boolean isBack(RollStatus roll) {
        return roll.phase() == RollPhase.GOING_BACK;
    }

    /** Pods of a pool that never ran have nothing to lose and nobody to wait for. */
    List<RollAction> bringFresh(String target) {
        return view.all()
                .filter(instance -> !instance.runs(target) && !instance.leaving())
                .map(instance -> (RollAction) new RollAction.SetImage(instance.pod(), instance.uid(), target))
                .toList();
    }

    private String describe(RollStatus roll, List<RollStepStatus> steps, String waitsFor) {
        if (steps.isEmpty()) {
            return "It waits: " + waitsFor + ".";
        }
        List<String> doing = steps.stream().map(step -> describe(roll, step)).toList();
        return "Under way: " + String.join(", ", doing) + ".";
    }

    private String describe(RollStatus roll, RollStepStatus step) {
        if (step.isGivenUp() || (isBack(roll) && new TakeBack(view).concerns(step, roll.from()))) {
            return takenBack(step);
        }
        return switch (step.kind()) {
            case RESTART -> step.pod() + " starts anew";
            case HAND_OVER -> step.pod() + " hands its leadership over";
            case DRAIN -> step.pod() + (isBack(roll) ? EMPTIED_ON_THE_WAY_BACK : " is emptied");
            case REPLACE -> step.pod() + " is made anew";
        };
    }

    private static String takenBack(RollStepStatus step) {
        return step.pod() + " takes part again";
    }

    /** A step as it begins, with what must differ when it is done. */
    static RollStepStatus begin(RollView view, Instance instance, RollStepKind kind) {
        var node = view.node(instance);
        return new RollStepStatus(
                instance.pod(),
                view.isMaster(instance.pod()) ? null : instance.id(),
                kind,
                view.now().toString(),
                instance.uid(),
                instance.restarts(),
                node.map(seen -> seen.incarnation())
                        .filter(text -> !text.isEmpty())
                        .orElse(null),
                node.map(seen -> seen.objects()).orElse(null),
                node.flatMap(seen -> Optional.ofNullable(seen.committed()))
                        .map(committed -> committed.idsHash())
                        .orElse(null),
                view.leader()
                        .filter(leader -> kind == RollStepKind.HAND_OVER)
                        .map(report -> report.epoch())
                        .orElse(null),
                instance.ran(),
                instance.specImage(),
                null);
    }
}
