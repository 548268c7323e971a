// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.tenant;

import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** What quotas and the want of room have cost each tenant, since this process began. */
public final class QuotaOutcomes {
    /**
     * Of one tenant.
     *
     * @param refusals keys that were not granted since the tenant is at its ceiling
     * @param evictions objects that were evicted for whatever cause
     * @param evictedBytes of the extents of all their copies
     */
    public record Costs(long refusals, long evictions, long evictedBytes) {
        public static final Costs NONE = new Costs(0, 0, 0);
    }

    /** The tenant that was refused or lost something last is last. */
    private final Map<String, Costs> costs = new LinkedHashMap<>();

    public void refused(Tenant tenant) {
        add(tenant, new Costs(1, 0, 0));
    }

    public void evicted(Tenant tenant, long bytes) {
        add(tenant, new Costs(0, 1, bytes));
    }

    /** For one more than are counted the one is forgotten that nothing has happened to for longest: it may have left the pool. */
    private void add(Tenant tenant, Costs more) {
        Costs known = costs.remove(tenant.name());
        if (known == null && costs.size() >= Quotas.TENANTS_MAX) {
            costs.remove(costs.keySet().iterator().next());
        }
        Costs before = known == null ? Costs.NONE : known;
        costs.put(
                tenant.name(),
                new Costs(
                        before.refusals + more.refusals,
                        before.evictions + more.evictions,
                        before.evictedBytes + more.evictedBytes));
    }

    /** By the name of the tenant; as it is now. */
    public Map<String, Costs> now() {
        return new TreeMap<>(costs);
    }
}
