// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.tenant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.wire.message.Tenant;
import org.junit.jupiter.api.Test;

class TenantSharesTest {
    private static final long MAX = 100;
    private static final Tenant A = Tenant.of("a");
    private static final Tenant B = Tenant.of("b");

    private boolean areAnyOfTenants = true;
    private final TenantShares shares = new TenantShares(() -> areAnyOfTenants);

    private long fill(Tenant tenant) {
        while (shares.hasRoom(tenant, 1, MAX)) {
            shares.add(tenant, 1);
        }
        return shares.of(tenant);
    }

    @Test
    void oneLeavesAQuarter() {
        assertThat(fill(B)).isEqualTo(75);
        assertThat(fill(Tenant.DEFAULT)).as("three times what is left").isPositive();
    }

    @Test
    void manyThatFillTheirsLeaveRoomForOneMore() {
        for (String each : "c d e f g h".split(" ", -1)) {
            fill(Tenant.of(each));
        }
        assertThat(shares.hasRoom(A, 1, 2 * MAX)).isTrue();
        fill(B);
        assertThat(shares.all()).isLessThan(MAX);
    }

    @Test
    void theDefaultTenantAloneHasAll() {
        areAnyOfTenants = false;
        assertThat(fill(Tenant.DEFAULT)).isEqualTo(MAX);
        areAnyOfTenants = true;
        assertThat(shares.hasRoom(Tenant.DEFAULT, 1, 2 * MAX)).isTrue();
        assertThat(shares.hasRoom(Tenant.DEFAULT, 1, MAX)).isFalse();
    }

    @Test
    void whatIsGivenBackIsThereAgain() {
        shares.add(B, 75);
        assertThat(shares.hasRoom(B, 1, MAX)).isFalse();
        shares.add(B, -75);
        assertThat(shares.hasRoom(B, 75, MAX)).isTrue();
        assertThat(shares.hasRoom(B, 76, MAX)).isFalse();
    }
}
