// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.tenant.Guarantees;
import dev.kvpool.dataplane.master.core.tenant.Quotas;
import dev.kvpool.dataplane.master.core.tenant.TenantAccounts;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.Map;
import java.util.OptionalLong;

/**
 * How much tenants may pin hard where anything is guaranteed. A pinned object never gives way, so what is pinned of one tenant must not
 * take the room that is another's: a tenant pins up to its own guarantee, and those without one together up to a part of what is
 * guaranteed to no tenant. Where nothing is guaranteed all may pin, and the pool is the limit.
 */
public final class PinnedRoom {
    /** What becomes of a pin. */
    public enum Answer {
        TAKEN,
        /** There would be room if all storage nodes were there. */
        NOT_NOW,
        /** The tenant has pinned what it may. */
        EXCEEDED
    }

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

        /** The same if all storage nodes were there. */
        private long mostWithAllBytes;

        /** What others have pinned that counts against the same limit. */
        private long othersBytes;

        private Share(String tenant) {
            this.tenant = tenant;
        }

        /**
         * Whether the tenant may put one more pinned object.
         *
         * @param bytes of all copies together
         * @param present what the key has now, which gives way; null when it has nothing
         */
        public Answer take(long bytes, StoredObject present) {
            if (!isKnown) {
                look();
                isKnown = true;
            }
            long moreBytes = present != null && present.retention().hard() ? bytes - present.countedBytes() : bytes;
            if (moreBytes <= 0 || isWithin(mostBytes, moreBytes)) {
                return Answer.TAKEN;
            }
            return isWithin(mostWithAllBytes, moreBytes) ? Answer.NOT_NOW : Answer.EXCEEDED;
        }

        private boolean isWithin(long most, long moreBytes) {
            return most == UNLIMITED || moreBytes <= most - othersBytes - accounts.pinnedBytes(tenant);
        }

        private void look() {
            Quotas quotas = rules.quotas();
            if (!quotas.guarantee()) {
                mostBytes = UNLIMITED;
                return;
            }
            if (quotas.of(tenant).guaranteedBytes() == 0) {
                othersBytes = pinnedWithoutGuarantee(quotas) - accounts.pinnedBytes(tenant);
            }
            long shared = membership.sharedCapacityBytes();
            OptionalLong all = membership.sharedCapacityWithAbsentBytes();
            mostWithAllBytes = all.isPresent() ? most(quotas, all.getAsLong()) : mostEver(quotas);
            // Of memory that all share nothing is taken while there is none: what engines lend is their own tenants'.
            mostBytes = shared == 0 ? mostWithAllBytes : most(quotas, shared);
        }

        /** Where tenants share so much memory. */
        private long most(Quotas quotas, long shared) {
            if (shared == 0) {
                return UNLIMITED;
            }
            double room = shared * rules.eviction().low();
            Guarantees guarantees = new Guarantees(quotas, accounts, (long) room, Map.of(), 0);
            if (quotas.of(tenant).guaranteedBytes() > 0) {
                return guarantees.floor(tenant);
            }
            for (String name : quotas.byTenant().keySet()) {
                room -= guarantees.floor(name);
            }
            return (long) (room * Bounds.PINNED_PART_MAX);
        }

        /** Where it is not known how much memory they share when all storage nodes are there. */
        private long mostEver(Quotas quotas) {
            long guaranteed = quotas.of(tenant).guaranteedBytes();
            return guaranteed > 0 ? guaranteed : UNLIMITED;
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
