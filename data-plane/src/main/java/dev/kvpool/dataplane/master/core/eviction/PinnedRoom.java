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
    private static final long UNLIMITED = Long.MAX_VALUE;

    private final CurrentRules rules;
    private final Membership membership;
    private final TenantAccounts accounts;

    public PinnedRoom(CurrentRules rules, View view) {
        this.rules = rules;
        this.membership = view.membership();
        this.accounts = view.index().accounts();
    }

    /** What a tenant may pin during one request, in which no node and no rule changes. */
    public Share shareOf(Tenant tenant) {
        return new Share(tenant.name());
    }

    /** Looks at guarantees and nodes once, at the first pinned key. */
    public final class Share {
        private final String tenant;
        private boolean isKnown;
        private long mostBytes;

        /** What others have pinned that counts against the same limit. */
        private long othersBytes;

        private Share(String tenant) {
            this.tenant = tenant;
        }

        /** Whether the tenant may put one more pinned object of so many bytes, all copies together. */
        public boolean takes(long bytes) {
            if (!isKnown) {
                look();
                isKnown = true;
            }
            return mostBytes == UNLIMITED || bytes <= mostBytes - othersBytes - accounts.pinnedBytes(tenant);
        }

        private void look() {
            Quotas quotas = rules.quotas();
            long shared = membership.sharedCapacityBytes();
            if (!quotas.guarantee() || shared == 0) { // what engines lend is their own tenants'
                mostBytes = UNLIMITED;
                return;
            }
            Guarantees now = GuaranteedRoom.guarantees(rules, membership, accounts, 0);
            if (quotas.of(tenant).guaranteedBytes() > 0) {
                mostBytes = now.floor(tenant);
                return;
            }
            double rest = shared * rules.eviction().low();
            for (String name : quotas.byTenant().keySet()) {
                rest -= now.floor(name);
            }
            mostBytes = (long) (rest * Bounds.PINNED_PART_MAX);
            othersBytes = pinnedWithoutGuarantee(quotas) - accounts.pinnedBytes(tenant);
        }
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
