// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

/**
 * The core against a model of everything around it. A failure names its seed; {@code -Dkvpool.seed=N} runs that one alone,
 * {@code -Dkvpool.seeds=N} runs more of them.
 */
class RandomModelTest {
    private static final int SEEDS = Integer.getInteger("kvpool.seeds", 25);
    private static final Long ONE_SEED = Long.getLong("kvpool.seed");

    @Test
    void nothingAcknowledgedIsLostWhateverFails() {
        History all = forEachSeed(seed -> new RandomPool(seed, 1, false).run());

        assertThat(all.acknowledgedPuts()).isPositive();
        assertThat(all.successfulReads()).isPositive();
    }

    @Test
    void copiesChangeNothingAboutThat() {
        History all = forEachSeed(seed -> new RandomPool(seed, 2, false).run());

        assertThat(all.acknowledgedPuts()).isPositive();
    }

    @Test
    void whatWasRemovedIsNotReadAgainWhoeverLeads() {
        History all = forEachSeed(seed -> new RandomPool(seed, 1, true).run());

        assertThat(all.acknowledgedRemovals()).isPositive();
        assertThat(all.acknowledgedPuts()).isPositive();
    }

    @Test
    void noCopyOfWhatWasRemovedIsReadAgain() {
        History all = forEachSeed(seed -> new RandomPool(seed, 2, true).run());

        assertThat(all.acknowledgedRemovals()).isPositive();
    }

    /** The history of the last seed. */
    private static History forEachSeed(LongFunction<History> run) {
        History last = null;
        long first = ONE_SEED == null ? 1 : ONE_SEED;
        long end = ONE_SEED == null ? SEEDS : ONE_SEED;
        for (long seed = first; seed <= end; seed++) {
            try {
                last = run.apply(seed);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + " (run it alone with -Dkvpool.seed=" + seed + ")", e);
            }
        }
        return last;
    }
}
