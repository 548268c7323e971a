// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.tenant.Quota;
import dev.kvpool.dataplane.master.core.tenant.TenantAccounts;
import dev.kvpool.dataplane.wire.message.Tenant;

/**
 * Asks for room for what tenants put. Of one with a ceiling it counts as if it was put: all that it asks for would else be evicted, though it may
 * put but little of that, and need not put anything.
 */
public final class WantedRoom {
    private final CurrentRules rules;
    private final Membership membership;
    private final TenantAccounts accounts;

    public WantedRoom(CurrentRules rules, View view) {
        this.rules = rules;
        this.membership = view.membership();
        this.accounts = view.index().accounts();
    }

    /** A writer of this tenant finds no room for so many bytes. */
    public void want(NodeView node, Tenant tenant, long bytes) {
        long ceiling = rules.quotas().of(tenant.name()).ceilingBytes();
        if (ceiling == Quota.UNLIMITED) {
            node.room.want(bytes);
        } else if (bytes <= ceiling - accounts.of(tenant.name()).allBytes() - wantedBytes(tenant)) {
            node.room.want(tenant, bytes);
        }
    }

    private long wantedBytes(Tenant tenant) {
        long bytes = 0;
        for (NodeView node : membership.all()) {
            bytes += node.room.shortage.wantedBytesOf(tenant);
        }
        return bytes;
    }
}
