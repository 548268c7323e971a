// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Clients offer memory, and nodes move what is put and read by CANN, which fails in the ways that are known of it, while leaders change, nodes and clients die and
 * SSDs fail. A failure names its seed: {@code -Dkvpool.sim.seed=S} runs that one alone, {@code -Dkvpool.sim.seeds=N} more of them.
 */
class AscendPoolsTest {
    private static final long SEEDS = Long.getLong("kvpool.sim.seeds", 20);
    private static final Long ONE_SEED = Long.getLong("kvpool.sim.seed");

    @Test
    void invariantsHoldWhateverCannAnswers() {
        Tally all = ONE_SEED == null ? SeedRun.run(Plan::ofAscend, 1, SEEDS) : SeedRun.run(Plan::ofAscend, ONE_SEED, 1);

        System.out.println(all);
        assertThat(all.get("values written by CANN")).isPositive();
        assertThat(all.get("values read by CANN")).isPositive();
    }

    @Test
    void oneSeedGivesOneRun() {
        assertThat(SeedRun.one(Plan::ofAscend, 1).world.digest())
                .as("what happened in seed 1, run twice")
                .isEqualTo(SeedRun.one(Plan::ofAscend, 1).world.digest());
    }
}
