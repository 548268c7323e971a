// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Clients of several tenants, and one who shows what was granted to others, put, read, ask and remove under the same keys, while leaders change, nodes die and are drained and SSDs fail: none
 * reads another's bytes, and none loses an object or is told of its absence by what another does. A failure names its seed: {@code
 * -Dkvpool.sim.seed=S} runs that one alone, {@code -Dkvpool.sim.seeds=N} more of them.
 */
class TenantIsolationTest {
    private static final long SEEDS = Long.getLong("kvpool.sim.seeds", 30);
    private static final Long ONE_SEED = Long.getLong("kvpool.sim.seed");

    @Test
    void tenantsWithTheSameKeysDoNotFeelEachOther() {
        Tally all =
                ONE_SEED == null ? SeedRun.run(Plan::ofTenants, 1, SEEDS) : SeedRun.run(Plan::ofTenants, ONE_SEED, 1);

        System.out.println(all);
        assertThat(all.get("reads")).isPositive();
        assertThat(all.get("puts acknowledged")).isPositive();
        assertThat(all.get("stolen grants refused")).isPositive();
        if (ONE_SEED == null) {
            assertThat(all.get("remove all OK"))
                    .as("removals of all of one tenant")
                    .isPositive();
        }
    }
}
