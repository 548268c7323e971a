// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.PendingVersions;
import dev.kvpool.api.v1alpha1.RollStatus;
import dev.kvpool.operator.pool.child.part.PreflightQuestion;
import dev.kvpool.operator.status.Finding;
import java.util.List;
import java.util.Optional;

/**
 * What is done now for an upgrade.
 *
 * @param next what the status shall say of it; actions that follow from a change wait until it is written
 * @param actions what is done at once
 * @param mastersImage image of masters that are made anew
 * @param storageImage image of storage nodes that are made anew
 * @param preflight what a preflight Job shall ask; empty when there shall be no such Job
 * @param pending what the status shall say that the pool is about to go over to; empty while an upgrade is under way
 * @param finding what condition UpgradeBlocked says
 */
public record RollPlan(
        Optional<RollStatus> next,
        List<RollAction> actions,
        String mastersImage,
        String storageImage,
        Optional<PreflightQuestion> preflight,
        Optional<PendingVersions> pending,
        Finding finding) {

    public RollPlan {
        actions = List.copyOf(actions);
    }

    /** Of a pool that is not about to go over to anything. */
    RollPlan(
            Optional<RollStatus> next,
            List<RollAction> actions,
            String mastersImage,
            String storageImage,
            Optional<PreflightQuestion> preflight,
            Finding finding) {
        this(next, actions, mastersImage, storageImage, preflight, Optional.empty(), finding);
    }

    /** The same, with other things done at once. */
    RollPlan with(List<RollAction> others) {
        return new RollPlan(next, others, mastersImage, storageImage, preflight, pending, finding);
    }

    /** The same, of a pool that is about to go over to higher versions. */
    RollPlan with(Optional<PendingVersions> versions) {
        return new RollPlan(next, actions, mastersImage, storageImage, preflight, versions, finding);
    }

    /** The image a preflight Job shall ask for. */
    public Optional<String> preflightImage() {
        return preflight.map(PreflightQuestion::image);
    }
}
