// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.tenant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.tenant.QuotaOutcomes.Costs;
import dev.kvpool.dataplane.wire.message.Tenant;
import org.junit.jupiter.api.Test;

class QuotaOutcomesTest {
    private final QuotaOutcomes outcomes = new QuotaOutcomes();

    @Test
    void ofMoreTenantsThanAreCountedTheOneIsForgottenThatNothingHappensTo() {
        for (int i = 0; i < Quotas.TENANTS_MAX; i++) {
            outcomes.refused(Tenant.of("t" + i));
        }
        outcomes.evicted(Tenant.of("t0"), 64);

        outcomes.refused(Tenant.of("late"));
        outcomes.refused(Tenant.of("late"));

        assertThat(outcomes.now())
                .hasSize(Quotas.TENANTS_MAX)
                .containsEntry("late", new Costs(2, 0, 0))
                .containsEntry("t0", new Costs(1, 1, 64))
                .doesNotContainKey("t1")
                .containsKey("t2");
    }
}
