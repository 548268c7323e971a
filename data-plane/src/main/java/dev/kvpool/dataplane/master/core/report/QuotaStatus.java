// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.report;

import dev.kvpool.dataplane.master.core.tenant.Quota;
import dev.kvpool.dataplane.master.core.tenant.QuotaOutcomes.Costs;
import dev.kvpool.dataplane.master.core.tenant.Quotas;
import dev.kvpool.dataplane.master.core.tenant.TenantAccounts;
import dev.kvpool.dataplane.master.core.tenant.TenantAccounts.Balance;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * How one tenant stands to its quota. Those that have one are told of, the default one included, and those that were refused or have lost
 * anything.
 *
 * @param used what is stored and granted, with the copies that it should have
 * @param costs since this process began
 */
public record QuotaStatus(String tenant, Quota quota, Balance used, Costs costs) {
    /** Whether it has more than it may have: its ceiling was lowered. */
    public boolean isOver() {
        return used.allBytes() > quota.ceilingBytes() || used.allObjects() > quota.ceilingObjects();
    }

    /** By name. */
    static List<QuotaStatus> of(Quotas quotas, TenantAccounts accounts, Map<String, Costs> costs) {
        if (!quotas.areAny() && costs.isEmpty()) {
            return List.of();
        }
        TreeSet<String> names = new TreeSet<>(quotas.byTenant().keySet());
        names.addAll(costs.keySet());
        List<QuotaStatus> all = new ArrayList<>(names.size());
        for (String name : names) {
            all.add(new QuotaStatus(name, quotas.of(name), accounts.of(name), costs.getOrDefault(name, Costs.NONE)));
        }
        return List.copyOf(all);
    }
}
