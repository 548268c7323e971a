// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Masters, nodes and clients in one thread. A failure names its seed: {@code -Dkvpool.sim.seed=S} runs that one alone,
 * {@code -Dkvpool.sim.trace=true} shows what happened in it, {@code -Dkvpool.sim.seeds=N} runs more of them.
 */
class SimulationTest {
    private static final long SEEDS = Long.getLong("kvpool.sim.seeds", 40);
    private static final Long ONE_SEED = Long.getLong("kvpool.sim.seed");

    @Test
    void invariantsHoldWhateverFails() {
        Tally all = ONE_SEED == null ? SeedRun.run(1, SEEDS) : SeedRun.run(ONE_SEED, 1);

        System.out.println(all);
        assertThat(all.get("reads")).isPositive();
        assertThat(all.get("puts acknowledged")).isPositive();
    }

    @Test
    void oneSeedGivesOneRun() {
        List<Long> seeds = List.of(1L, 2L, 3L);

        assertThat(seeds.parallelStream().map(SimulationTest::digest))
                .as("what happened in each, beside others")
                .isEqualTo(seeds.stream().map(SimulationTest::digest).toList());
    }

    private static long digest(long seed) {
        return SeedRun.one(seed).world.digest();
    }
}
