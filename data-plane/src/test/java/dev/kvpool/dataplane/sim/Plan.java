// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.election.ElectionTimes;
import java.util.SplittableRandom;

/**
 * What pool a seed runs, and under which load and faults. Seeds differ in what they leave out: a checker that must excuse a
 * miss because of a removal says more where nothing is removed.
 *
 * @param forcing removals may be forced
 * @param tight values so large that the pool evicts
 * @param upserting some puts replace what exists
 * @param pinning the first keys are pinned hard by every put, some others softly
 * @param draining nodes are emptied and taken back
 */
record Plan(
        SimTimes times,
        int masters,
        int nodes,
        int transientNodes,
        int replicas,
        int clients,
        int keys,
        boolean removing,
        boolean forcing,
        boolean removingAll,
        boolean tight,
        boolean upserting,
        boolean pinning,
        boolean draining,
        boolean wiping,
        boolean tampering,
        boolean slowNetwork,
        long loadMs,
        long faultEveryMs) {
    /** So few that what is pinned lies well below the watermark. */
    private static final int PINNED_KEYS = 2;

    private static final ElectionTimes QUICK = new ElectionTimes(1_500, 900, 300);

    static Plan of(long seed) {
        SplittableRandom dice = new SplittableRandom(seed ^ 0x5EED);
        boolean removing = dice.nextInt(2) == 0;
        boolean tight = dice.nextInt(4) == 0;
        ElectionTimes election = dice.nextInt(4) == 0 ? ElectionTimes.DEFAULT : QUICK;
        return new Plan(
                new SimTimes(election, dice.nextLong(300, 3_000), dice.nextLong(500, 5_000)),
                2 + dice.nextInt(2),
                2 + dice.nextInt(2),
                dice.nextInt(3) == 0 ? 1 : 0,
                1 + dice.nextInt(2),
                3,
                tight ? 30 : 3 + dice.nextInt(8),
                removing,
                removing && dice.nextInt(2) == 0,
                removing && dice.nextInt(3) == 0,
                tight,
                dice.nextInt(3) == 0,
                dice.nextInt(4) == 0,
                dice.nextInt(4) == 0,
                dice.nextInt(4) == 0,
                dice.nextInt(3) == 0,
                dice.nextInt(2) == 0,
                dice.nextLong(10_000, 22_000),
                dice.nextLong(200, 1_500));
    }

    /** Whether every put of a key pins it hard; not where such an object may go with a transient node. */
    boolean isPinned(int key) {
        return pinning && transientNodes == 0 && key < PINNED_KEYS;
    }

    double highWatermark() {
        return tight ? 0.02 : 0.9;
    }

    double lowWatermark() {
        return tight ? 0.015 : 0.8;
    }

    int valueBytesMax() {
        return tight ? 40_000 : 3_000;
    }
}
