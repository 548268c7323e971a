// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.tenant;

import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.Map;
import java.util.TreeMap;

/** How lookups of clients of other tenants than the default one ended, since this process began. */
public final class TenantReads {
    /** Tenants of which lookups are counted and numbers told. */
    public static final int TENANTS_MAX = 256;

    /**
     * Of one tenant.
     *
     * @param hits keys that were looked up and found
     * @param misses keys that were not
     */
    public record Reads(long hits, long misses) {
        public static final Reads NONE = new Reads(0, 0);
    }

    private final Map<String, Reads> reads = new TreeMap<>();

    /** A lookup was answered; of the default tenant nothing is counted, and of further tenants than there may be neither. */
    public void answered(Tenant tenant, long hits, long misses) {
        if (tenant.isDefault() || (reads.size() >= TENANTS_MAX && !reads.containsKey(tenant.name()))) {
            return;
        }
        Reads before = reads.getOrDefault(tenant.name(), Reads.NONE);
        reads.put(tenant.name(), new Reads(before.hits + hits, before.misses + misses));
    }

    /** By the name of the tenant; as it is now. */
    public Map<String, Reads> now() {
        return new TreeMap<>(reads);
    }
}
