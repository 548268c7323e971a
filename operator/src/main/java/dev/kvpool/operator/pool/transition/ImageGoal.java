// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;

/**
 * The images an upgrade brings a pool to now.
 *
 * @param masters the image of its masters, which is another one only where they cannot go the way of the storage nodes
 * @param storage the image of its storage nodes
 * @param keep how many storage nodes, the first by id, keep what they run
 * @param emptied whether a storage node is emptied before, as the image cannot read what it holds
 * @param careful whether the image may be unable to read what a storage node holds, so that one that cannot be asked or emptied is not
 *     touched
 * @param back whether the pool is rolled back: then no step fails, and dead machines are not waited for
 * @param paused whether no step begins
 */
public record ImageGoal(
        String masters, String storage, int keep, boolean emptied, boolean careful, boolean back, boolean paused) {

    public static ImageGoal upgrade(String image, int keep, boolean emptied, boolean careful, boolean paused) {
        return new ImageGoal(image, image, keep, emptied, emptied || careful, false, paused);
    }

    public static ImageGoal back(String masters, String storage, boolean emptied, boolean careful) {
        return new ImageGoal(masters, storage, 0, emptied, emptied || careful, true, false);
    }

    public String of(boolean master) {
        return master ? masters : storage;
    }

    StepCause because() {
        return back ? StepCause.ROLLBACK : StepCause.UPGRADE;
    }
}
