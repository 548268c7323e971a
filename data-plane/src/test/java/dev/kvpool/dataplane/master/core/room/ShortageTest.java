// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.room;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.wire.message.Tenant;
import org.junit.jupiter.api.Test;

class ShortageTest {
    private static final Tenant A = Tenant.of("a");
    private static final long CAPACITY = 1000;

    private final Shortage shortage = new Shortage();

    @Test
    void aTenantWantsNoMoreThanTheNodeHas() {
        shortage.want(A, 600, CAPACITY);
        shortage.want(A, 600, CAPACITY);
        assertThat(shortage.wantedBytesOf(A)).isEqualTo(CAPACITY);
        shortage.gone(CAPACITY);
        assertThat(shortage.wantedBytes()).isZero();
        assertThat(shortage.wantedBytesOf(A)).isZero();
    }
}
