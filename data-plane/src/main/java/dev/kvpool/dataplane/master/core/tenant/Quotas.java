// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.tenant;

import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/** The quotas of a pool's tenants, by name. */
public final class Quotas {
    /** Tenants that may have one. */
    public static final int TENANTS_MAX = 256;

    /** Those of a pool that shares its memory by use alone. */
    public static final Quotas NONE = new Quotas(Map.of());

    private final Map<String, Quota> byTenant;
    private final boolean limit;
    private final boolean guarantee;

    /** @throws IllegalArgumentException when a name is none of a tenant, or there are more than {@value #TENANTS_MAX} */
    public Quotas(Map<String, Quota> byTenant) {
        if (byTenant.size() > TENANTS_MAX) {
            throw new IllegalArgumentException(
                    "quotas of " + byTenant.size() + " tenants; at most " + TENANTS_MAX + " may have one");
        }
        byTenant.keySet().forEach(Tenant::of); // refuses what can be no name
        this.byTenant = Collections.unmodifiableMap(new TreeMap<>(byTenant));
        limit = byTenant.values().stream().anyMatch(Quota::isLimited);
        guarantee = byTenant.values().stream().anyMatch(quota -> quota.guaranteedBytes() > 0);
    }

    /** Whether any tenant has one. */
    public boolean areAny() {
        return !byTenant.isEmpty();
    }

    /** Whether any tenant has a ceiling. */
    public boolean limit() {
        return limit;
    }

    /** Whether anything is guaranteed to any tenant. */
    public boolean guarantee() {
        return guarantee;
    }

    public Quota of(String tenant) {
        return byTenant.getOrDefault(tenant, Quota.NONE);
    }

    /** By the name of the tenant, in the order of names. */
    public Map<String, Quota> byTenant() {
        return byTenant;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Quotas quotas && quotas.byTenant.equals(byTenant);
    }

    @Override
    public int hashCode() {
        return byTenant.hashCode();
    }

    @Override
    public String toString() {
        return byTenant.toString();
    }
}
