// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.tenant.Guarantees;
import dev.kvpool.dataplane.master.core.tenant.Quotas;
import dev.kvpool.dataplane.master.core.tenant.TenantAccounts;
import dev.kvpool.dataplane.wire.message.Tenant;

/**
 * How much tenants may pin hard where anything is guaranteed. A pinned object never gives way, so what is pinned of one tenant must not
 * take the room that is another's: a tenant pins up to its own guarantee, and those without one together up to a part of what is
 * guaranteed to no tenant. Where nothing is guaranteed all may pin, and the pool is the limit.
 */
public final class PinnedRoom {
    private final CurrentRules rules;
    private final Membership membership;
    private final TenantAccounts accounts;

    public PinnedRoom(CurrentRules rules, View view) {
        this.rules = rules;
        this.membership = view.membership();
        this.accounts = view.index().accounts();
    }

    /** Whether a tenant may put a pinned object of so many bytes, all copies together. */
    public boolean takes(Tenant tenant, long bytes) {
        Quotas quotas = rules.quotas();
        long shared = membership.sharedCapacityBytes();
        if (!quotas.guarantee() || shared == 0) { // what engines lend is their own tenants'
            return true;
        }
        Guarantees now = GuaranteedRoom.guarantees(rules, membership, accounts, 0);
        if (quotas.of(tenant.name()).guaranteedBytes() > 0) {
            return accounts.pinnedBytes(tenant.name()) + bytes <= now.floor(tenant.name());
        }
        double rest = shared * rules.eviction().low();
        for (String name : quotas.byTenant().keySet()) {
            rest -= now.floor(name);
        }
        return pinnedWithoutGuarantee(quotas) + bytes <= rest * Bounds.PINNED_PART_MAX;
    }

    private long pinnedWithoutGuarantee(Quotas quotas) {
        long pinned = pinnedWithoutGuarantee(quotas, Tenant.DEFAULT.name());
        for (String name : accounts.names()) {
            pinned += pinnedWithoutGuarantee(quotas, name);
        }
        return pinned;
    }

    private long pinnedWithoutGuarantee(Quotas quotas, String name) {
        return quotas.of(name).guaranteedBytes() > 0 ? 0 : accounts.pinnedBytes(name);
    }
}
