// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.tenant.Guarantees;
import dev.kvpool.dataplane.master.core.tenant.TenantAccounts;
import java.util.Map;

/** Which objects other tenants' needs may cost a tenant, as its guarantee is now. Where nothing is guaranteed it looks at no object. */
final class GuaranteedRoom {
    private final CurrentRules rules;
    private final Membership membership;
    private final TenantAccounts accounts;

    /** Of the turn under way; null when nothing is guaranteed to any tenant. */
    private Guarantees now;

    GuaranteedRoom(CurrentRules rules, View view) {
        this.rules = rules;
        this.membership = view.membership();
        this.accounts = view.index().accounts();
    }

    /** A turn of an eviction begins in which so many bytes have to go. Eviction leaves what is below the low watermark: so much can be guaranteed. */
    void look(long bytesToLose) {
        if (!rules.quotas().guarantee()) {
            now = null;
            return;
        }
        double low = rules.eviction().low();
        Map<String, Long> own = membership.lentCapacityBytes();
        own.replaceAll((tenant, capacity) -> (long) (capacity * low));
        now = new Guarantees(
                rules.quotas(), accounts, (long) (membership.sharedCapacityBytes() * low), own, bytesToLose);
    }

    /** Whether anything is guaranteed to any tenant. */
    boolean isAny() {
        return now != null;
    }

    /** @param furthestOnly the tenant must be among those that are furthest above their guarantees */
    boolean mayLose(StoredObject object, boolean furthestOnly) {
        return now == null || now.mayLose(object.tenant().name(), object.countedBytes(), furthestOnly);
    }
}
