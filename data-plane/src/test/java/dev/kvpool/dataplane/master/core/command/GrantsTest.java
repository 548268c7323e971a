// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Clients;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.tenant.TenantAccounts;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.List;
import org.junit.jupiter.api.Test;

class GrantsTest {
    private final Grants grants = new Grants(new LateWrites(), new TenantAccounts(), new Clients());
    private final NodeView node = new NodeView("a");

    @Test
    void roomIsSetAsideUntilTheNodeShowsTheObjectOrTheGrantEnds() {
        Grant grant = grant(1, "k", 100);
        grants.add(grant);
        assertThat(node.room.grantedBytes()).isEqualTo(1000);

        grant.release(node);
        grant.release(node);
        assertThat(node.room.grantedBytes()).isZero();
        grants.end(grant);
        assertThat(node.room.grantedSlots()).isZero();
    }

    @Test
    void endingAnOldGrantLeavesTheNewestOfItsKeyAlone() {
        Grant old = grant(1, "k", 100);
        Grant newest = grant(2, "k", 200);
        grants.add(old);
        grants.add(newest);

        grants.end(old);

        assertThat(grants.ofKey(Key.of("k"))).isSameAs(newest);
        assertThat(grants.byId(old.id)).isNull();
    }

    @Test
    void aForgottenGrantDoesNotLetTheOthersPileUp() {
        grants.add(grant(1, "forgotten", 0));
        for (int i = 2; i <= 2 * Bounds.GRANTS_MAX; i++) {
            Grant quick = grant(i, "k" + i, 1_000);
            grants.add(quick);
            grants.end(quick);
        }

        assertThat(grants.isFull(Tenant.DEFAULT)).isFalse();
        assertThat(grants.endOverdue(Bounds.GRANT_GRACE_MS))
                .extracting(it -> it.id.counter())
                .containsExactly(1L);
        assertThat(node.room.grantedBytes()).isZero();
    }

    @Test
    void aKeyNeedNotWaitForAClientThatIsGone() {
        grants.add(grant(1, "k", 1_000));
        assertThat(grants.isBeingPut(Key.of("k"), 0)).isTrue();

        grants.abandon(2);
        assertThat(grants.isBeingPut(Key.of("k"), 0)).isTrue();
        grants.abandon(1);
        assertThat(grants.isBeingPut(Key.of("k"), 0)).isFalse();
    }

    @Test
    void theirNumberIsBounded() {
        for (int i = 1; i <= Bounds.GRANTS_MAX; i++) {
            grants.add(grant(i, "k" + i, 100));
        }

        assertThat(grants.isFull(Tenant.DEFAULT)).isTrue();
    }

    @Test
    void oneTenantLeavesAQuarterToOthers() {
        Tenant b = Tenant.of("b");
        for (int i = 1; i <= Bounds.GRANTS_MAX / 4 * 3; i++) {
            assertThat(grants.isFull(b)).isFalse();
            grants.add(grant(i, "\0b\0k" + i, 100));
        }

        assertThat(grants.isFull(b)).isTrue();
        assertThat(grants.isFull(Tenant.of("a"))).isFalse();
        grants.end(grants.byId(new ObjectId(1, 1)));
        assertThat(grants.isFull(b)).isFalse();
        grants.clear();
        assertThat(grants.isFull(b)).isFalse();
    }

    private Grant grant(long counter, String key, long deadlineMs) {
        return new Grant(
                1, new ObjectId(1, counter), Key.of(key), 1000, List.of(node), 1, deadlineMs, false, false, null);
    }
}
