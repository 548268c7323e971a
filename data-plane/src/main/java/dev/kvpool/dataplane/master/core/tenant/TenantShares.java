// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.tenant;

import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * How much each tenant has of a table that all share. A tenant gets at most three times what it leaves free: alone three quarters, and
 * however many fill their shares, there is room for one more. Where the tenant default is alone it may have all.
 */
public final class TenantShares {
    /** How much more than it leaves free a tenant may have. */
    private static final long PARTS = 3;

    private final BooleanSupplier areAnyOfTenants;
    private final Map<Tenant, Long> shares = new HashMap<>();
    private long all;

    /** @param areAnyOfTenants whether there are clients of other tenants than the default one */
    public TenantShares(BooleanSupplier areAnyOfTenants) {
        this.areAnyOfTenants = areAnyOfTenants;
    }

    /**
     * Whether a tenant may have so much more.
     *
     * @param max of all together
     */
    public boolean hasRoom(Tenant tenant, long more, long max) {
        long free = max - all - more;
        boolean isAlone = tenant.isDefault() && !areAnyOfTenants.getAsBoolean();
        return more == 0 || (free >= 0 && (isAlone || of(tenant) + more <= PARTS * free));
    }

    /** Books so much more, or takes it back where it is negative. */
    public void add(Tenant tenant, long more) {
        if (more != 0) {
            all += more;
            shares.merge(tenant, more, (had, added) -> had + added == 0 ? null : had + added);
        }
    }

    /** What a tenant has. */
    public long of(Tenant tenant) {
        return shares.getOrDefault(tenant, 0L);
    }

    /** What all have. */
    public long all() {
        return all;
    }

    public void clear() {
        shares.clear();
        all = 0;
    }
}
