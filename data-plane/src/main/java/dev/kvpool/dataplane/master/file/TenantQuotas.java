// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.file;

import dev.kvpool.dataplane.config.TenantAmounts;
import dev.kvpool.dataplane.master.core.tenant.Quota;
import dev.kvpool.dataplane.master.core.tenant.Quotas;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/** Quotas as the core knows them, of those that settings name. */
public final class TenantQuotas {
    private TenantQuotas() {}

    public static Quotas of(Map<String, TenantAmounts> byName) {
        Map<String, Quota> quotas = new TreeMap<>();
        byName.forEach((name, amounts) -> quotas.put(
                name, new Quota(amounts.guaranteedBytes(), amounts.ceilingBytes(), amounts.ceilingObjects())));
        return new Quotas(quotas);
    }

    /** The same the other way round. */
    public static Map<String, TenantAmounts> amounts(Quotas quotas) {
        Map<String, TenantAmounts> byName = new TreeMap<>();
        quotas.byTenant()
                .forEach((name, quota) -> byName.put(
                        name,
                        new TenantAmounts(quota.guaranteedBytes(), quota.ceilingBytes(), quota.ceilingObjects())));
        return byName;
    }

    /**
     * With another ceiling of bytes for one tenant.
     *
     * @param ceilingBytes empty: without anything for it
     * @throws IllegalArgumentException when it may not have that
     */
    public static Map<String, TenantAmounts> changed(Quotas quotas, String tenant, OptionalLong ceilingBytes) {
        Map<String, TenantAmounts> byName = amounts(quotas);
        TenantAmounts before = byName.remove(tenant);
        if (ceilingBytes.isEmpty()) {
            return byName;
        }
        long guaranteed = before == null ? 0 : before.guaranteedBytes();
        if (ceilingBytes.getAsLong() < guaranteed) {
            throw new IllegalArgumentException("tenant " + tenant + " is guaranteed " + guaranteed
                    + " bytes, and may have no less: choose a higher quota, or delete it first");
        }
        long objects = before == null ? Quota.UNLIMITED : before.ceilingObjects();
        byName.put(tenant, new TenantAmounts(guaranteed, ceilingBytes.getAsLong(), objects));
        return byName;
    }
}
