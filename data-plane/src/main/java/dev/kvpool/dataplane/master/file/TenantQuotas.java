// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.file;

import dev.kvpool.dataplane.config.TenantAmounts;
import dev.kvpool.dataplane.master.core.tenant.Quota;
import dev.kvpool.dataplane.master.core.tenant.Quotas;
import java.util.Map;
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
}
