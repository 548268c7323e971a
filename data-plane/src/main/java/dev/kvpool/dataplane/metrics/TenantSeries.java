// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

import dev.kvpool.dataplane.master.core.report.TenantStatus;
import java.util.List;
import java.util.function.ToLongFunction;

/** What each tenant has and reads: series that come and go with tenants, which the registry has none of. Names of tenants are DNS labels. */
final class TenantSeries {
    private static final String TENANT = "kvpool_master_tenant_";

    private TenantSeries() {}

    static String of(List<TenantStatus> tenants) {
        return series("objects", "gauge", "Objects of a tenant", TenantStatus::objects, tenants)
                + series("bytes", "gauge", "Bytes of all copies of a tenant's objects", TenantStatus::bytes, tenants)
                + series(
                        "lookup_hits_total",
                        "counter",
                        "Keys that clients of a tenant looked up and found",
                        TenantStatus::hits,
                        tenants)
                + series(
                        "lookup_misses_total",
                        "counter",
                        "Keys that clients of a tenant looked up and did not find",
                        TenantStatus::misses,
                        tenants);
    }

    private static String series(
            String name, String type, String help, ToLongFunction<TenantStatus> value, List<TenantStatus> tenants) {
        String full = TENANT + name;
        StringBuilder text = new StringBuilder("# HELP %s %s\n# TYPE %s %s\n".formatted(full, help, full, type));
        for (TenantStatus tenant : tenants) {
            text.append("%s{tenant=\"%s\"} %d\n".formatted(full, tenant.name(), value.applyAsLong(tenant)));
        }
        return text.toString();
    }
}
