// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.RollStepKind;
import dev.kvpool.api.v1alpha1.RollStepStatus;
import dev.kvpool.operator.pool.roll.Judgement.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Storage nodes that were being emptied for an upgrade that is over. Leaders remember for each other that they take nothing new, so
 * a step like that ends only when the leader says that its node takes part again.
 */
final class TakeBack {
    /** What a leader says may be older than what it was told last; for so long it is told again. */
    static final Duration SETTLED = Duration.ofSeconds(5);

    private final RollView view;

    TakeBack(RollView view) {
        this.view = view;
    }

    /** What remains of the steps of an upgrade that ends now. A pod that has been made anew holds nothing that was moved. */
    List<RollStepStatus> remainsOf(List<RollStepStatus> steps) {
        return steps.stream()
                .filter(step -> step.kind() == RollStepKind.DRAIN || isStillThere(step))
                .map(step -> step.from(view.now().toString()))
                .toList();
    }

    /**
     * Whether a step of a pool that goes back is such a rest. All others are about nodes that run something else, which are emptied
     * on their way back as well.
     *
     * @param target the image that the pool goes back to
     */
    boolean concerns(RollStepStatus step, String target) {
        Optional<Instance> instance = view.instance(step);
        boolean stays = instance.filter(it -> it.runs(target)).isPresent();
        return step.kind() == RollStepKind.DRAIN ? instance.isEmpty() || stays : stays && isStillThere(step);
    }

    Verdict judge(RollStepStatus step) {
        // The time counts while there is a leader to be told: of a node that is away nobody says whether it takes part.
        if (view.leader().isEmpty()) {
            return step.epoch() == null
                    ? new Verdict.Under(List.of())
                    : new Verdict.Becomes(step.told(null, view.now().toString()));
        }
        if (step.epoch() == null) {
            return new Verdict.Becomes(
                    step.told(view.leader().get().epoch(), view.now().toString()));
        }
        String node = step.node() == null ? step.pod() : step.node();
        boolean leaves = view.node(node)
                .filter(seen -> seen.draining() || seen.drained())
                .isPresent();
        Duration told = Duration.between(Instant.parse(step.since()), view.now());
        return leaves || told.compareTo(SETTLED) < 0
                ? new Verdict.Under(List.of(new RollAction.Cancel(node)))
                : new Verdict.Done();
    }

    private boolean isStillThere(RollStepStatus step) {
        return step.kind() == RollStepKind.REPLACE
                && view.instance(step).filter(it -> it.uid().equals(step.uid())).isPresent();
    }
}
