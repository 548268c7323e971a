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
        Choice choice = new Choice(view, target, back ? 0 : keep, roll.mode() == RollMode.DRAINED);
        List<Instance> pending = choice.pending();
        if (pending.isEmpty() && goOn.isEmpty()) {
            return choice.keepsSome()
                    ? new Outcome(List.of(), actions, false, Optional.empty(), choice.kept())
                    : new Outcome(List.of(), actions, true, Optional.empty(), "");
        }
        if (view.options().paused() && !back) {
            return new Outcome(goOn, actions, false, Optional.empty(), "It is paused: spec.upgrade.paused is true.");
        }
        Choice.Next next = choice.next(goOn);
        goOn.addAll(next.steps());
        return new Outcome(goOn, actions, false, Optional.empty(), describe(roll, goOn, next.waitsFor()));
    }

    /** One look at what is left of an earlier upgrade before the next one is begun. */
    Outcome settle(RollStatus roll) {
        TakeBack takeBack = new TakeBack(view);
        List<RollStepStatus> goOn = new ArrayList<>();
        List<RollAction> actions = new ArrayList<>();
        for (RollStepStatus step : roll.steps()) {
            if (takeBack.judge(step) instanceof Verdict.Under(List<RollAction> needed)) {
                goOn.add(step);
                actions.addAll(needed);
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
        if (isBack(roll) && new TakeBack(view).concerns(step, roll.from())) {
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
                view.leader().map(report -> report.epoch()).orElse(null));
    }
}
