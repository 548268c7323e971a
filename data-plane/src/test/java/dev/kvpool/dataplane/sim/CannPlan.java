// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.sim.nativecore.Cann;
import dev.kvpool.dataplane.sim.nativecore.ClientCore.Way;
import java.util.SplittableRandom;

/**
 * How payloads of a pool are moved by CANN.
 *
 * @param clients so many, the first ones, offer memory
 * @param way theirs
 */
record CannPlan(int clients, Way way, Cann settings) {
    private static final int CLIENTS_MAX = 2;

    static CannPlan of(long seed) {
        SplittableRandom dice = new SplittableRandom(seed ^ 0xCA22);
        return new CannPlan(
                1 + dice.nextInt(CLIENTS_MAX),
                dice.nextBoolean() ? Way.ASCEND : Way.ASCEND_OR_TCP,
                new Cann(dice.nextInt(3) == 0, 1_000, 1_500, 2_000, 1 + dice.nextInt(4), 2 + dice.nextInt(4)));
    }

    /** The last of several writes to memory that it has offered, while a node reads that. */
    boolean scribbles(int client) {
        return clients > 1 && client == clients - 1;
    }
}
