// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.status.PendingVersions;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.operator.pool.child.part.PreflightQuestion;
import dev.kvpool.operator.pool.transition.Action;
import dev.kvpool.operator.pool.transition.ImageGoal;
import dev.kvpool.operator.status.Finding;
import java.util.List;
import java.util.Optional;

/**
 * What is done now for an upgrade, besides the steps.
 *
 * @param next what the status shall say of it; actions that follow from a change wait until it is written
 * @param actions what is done at once
 * @param mastersImage image of masters that are recreated
 * @param goal the images to which steps bring the pool now; empty when they do not
 * @param preflight what a preflight Job shall ask; empty when there shall be no such Job
 * @param pending what the status shall say that the pool is about to change to; empty while an upgrade is under way
 * @param finding what condition UpgradeBlocked says
 */
public record RollPlan(
        Optional<RollStatus> next,
        List<Action> actions,
        String mastersImage,
        Optional<ImageGoal> goal,
        Optional<PreflightQuestion> preflight,
        Optional<PendingVersions> pending,
        Finding finding) {

    public RollPlan {
        actions = List.copyOf(actions);
    }

    /** Of a pool that stays at an image, is not about to change to higher versions, and takes no step. */
    RollPlan(Optional<RollStatus> next, String image, Finding finding) {
        this(next, List.of(), image, Optional.empty(), Optional.empty(), Optional.empty(), finding);
    }

    /** The same, with other things done at once. */
    RollPlan with(List<Action> others) {
        return new RollPlan(next, others, mastersImage, goal, preflight, pending, finding);
    }

    /** The same, of a pool that is about to change to higher versions. */
    RollPlan with(Optional<PendingVersions> versions) {
        return new RollPlan(next, actions, mastersImage, goal, preflight, versions, finding);
    }

    /** The same, with steps that bring the pool there. */
    RollPlan towards(ImageGoal images) {
        return new RollPlan(next, actions, mastersImage, Optional.of(images), preflight, pending, finding);
    }

    /** The same, with a preflight Job. */
    RollPlan asking(PreflightQuestion question) {
        return new RollPlan(next, actions, mastersImage, goal, Optional.of(question), pending, finding);
    }

    /** The same, with what its steps are about added to the condition. */
    public RollPlan told(String steps) {
        return new RollPlan(next, actions, mastersImage, goal, preflight, pending, finding.and(steps));
    }

    /** Image of storage nodes that are recreated: those that are emptied for an upgrade come back with it. */
    public String storageImage() {
        return goal.filter(ImageGoal::emptied).map(ImageGoal::storage).orElse(mastersImage);
    }

    /** The image a preflight Job shall ask for. */
    public Optional<String> preflightImage() {
        return preflight.map(PreflightQuestion::image);
    }
}
