// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.status.Finding;
import java.util.List;
import java.util.Set;

/**
 * What is done now with the pods of a pool.
 *
 * @param steps what the status shall say; what follows from a change waits until it is written
 * @param actions what is done at once
 * @param released ids of storage nodes, and pods of masters, that may go now
 * @param evictable names of pods that may be evicted now
 * @param waits transitions that have not begun, and why, in their order
 * @param words what the status says of it
 */
public record TransitionPlan(
        List<StepStatus> steps,
        List<Action> actions,
        Set<String> released,
        Set<String> evictable,
        List<Wait> waits,
        Words words) {

    /**
     * What a status says of transitions. Each is empty where there is nothing to say.
     *
     * @param heldBack sentences about settings that are not carried out, because that would lose bytes
     * @param emptiedFirst a sentence about settings that are carried out when storage nodes are empty
     * @param replacing a sentence about settings for which pods are replaced a few at a time
     * @param removing a sentence about masters that are removed one by one
     * @param upgrade a sentence about what is under way for an upgrade, or waited for
     * @param draining what condition Draining says
     */
    public record Words(
            String heldBack,
            String emptiedFirst,
            String replacing,
            String removing,
            String upgrade,
            Finding draining) {}

    public TransitionPlan {
        steps = List.copyOf(steps);
        actions = List.copyOf(actions);
        released = Set.copyOf(released);
        evictable = Set.copyOf(evictable);
        waits = List.copyOf(waits);
    }

    /** Why other settings are not carried out, as a part of a sentence, for each pod that did not get ready with them. */
    public List<String> failed() {
        return steps.stream()
                .filter(step -> step.because() == StepCause.SETTINGS && step.state() == StepState.FAILED)
                .map(StepStatus::waitsFor)
                .toList();
    }

    /** Whether steps are under way that bring pods to other settings. */
    public boolean changesSettings() {
        return isChangingSettings(steps);
    }

    /** The same of steps in a status. */
    public static boolean isChangingSettings(List<StepStatus> steps) {
        return steps.stream()
                .anyMatch(step -> step.because() == StepCause.SETTINGS && step.state() != StepState.WAITING);
    }

    /** Steps begin, or none are needed. A pool in which something stands for months, as a user asked, would keep the turn from others as long. */
    public boolean takesTurn() {
        return changesSettings() || steps.isEmpty();
    }
}
