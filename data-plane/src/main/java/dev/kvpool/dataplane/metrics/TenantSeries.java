// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

import dev.kvpool.dataplane.master.core.report.QuotaStatus;
import dev.kvpool.dataplane.master.core.report.TenantStatus;
import dev.kvpool.dataplane.master.core.tenant.Quota;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/** What each tenant has and reads: series that come and go with tenants, which the registry has none of. Names of tenants are DNS labels. */
final class TenantSeries {
    private static final String TENANT = "kvpool_master_tenant_";
    private static final String GAUGE = "gauge";
    private static final String COUNTER = "counter";

    private TenantSeries() {}

    static String of(List<TenantStatus> tenants, List<QuotaStatus> quotas) {
        return series("objects", GAUGE, "Objects of a tenant", TenantStatus::name, TenantStatus::objects, tenants)
                + series(
                        "bytes",
                        GAUGE,
                        "Bytes of all copies of a tenant's objects",
                        TenantStatus::name,
                        TenantStatus::bytes,
                        tenants)
                + series(
                        "lookup_hits_total",
                        COUNTER,
                        "Keys that clients of a tenant looked up and found",
                        TenantStatus::name,
                        TenantStatus::hits,
                        tenants)
                + series(
                        "lookup_misses_total",
                        COUNTER,
                        "Keys that clients of a tenant looked up and did not find",
                        TenantStatus::name,
                        TenantStatus::misses,
                        tenants)
                + ofQuotas(quotas);
    }

    private static String ofQuotas(List<QuotaStatus> all) {
        return quota(
                        "used_bytes",
                        GAUGE,
                        "Bytes that count against a tenant's quota: stored and granted, with the copies that objects should have",
                        status -> status.used().allBytes(),
                        all)
                + quota(
                        "used_objects",
                        GAUGE,
                        "Objects that count against a tenant's quota: stored and granted",
                        status -> status.used().allObjects(),
                        all)
                + quota(
                        "guaranteed_bytes",
                        GAUGE,
                        "Bytes up to which a tenant loses nothing to others",
                        status -> status.quota().guaranteedBytes(),
                        having(status -> status.quota().guaranteedBytes() > 0, all))
                + quota(
                        "ceiling_bytes",
                        GAUGE,
                        "Most bytes that a tenant may have",
                        status -> status.quota().ceilingBytes(),
                        having(status -> status.quota().ceilingBytes() != Quota.UNLIMITED, all))
                + quota(
                        "ceiling_objects",
                        GAUGE,
                        "Most objects that a tenant may have",
                        status -> status.quota().ceilingObjects(),
                        having(status -> status.quota().ceilingObjects() != Quota.UNLIMITED, all))
                + quota(
                        "quota_refusals_total",
                        COUNTER,
                        "Keys that a tenant was not granted since it was at its ceiling and nothing of its own could be evicted",
                        status -> status.costs().refusals(),
                        all)
                + quota(
                        "evicted_objects_total",
                        COUNTER,
                        "Objects of a tenant that were evicted for whatever cause",
                        status -> status.costs().evictions(),
                        all);
    }

    private static List<QuotaStatus> having(Predicate<QuotaStatus> what, List<QuotaStatus> all) {
        return all.stream().filter(what).toList();
    }

    private static String quota(
            String name, String type, String help, ToLongFunction<QuotaStatus> value, List<QuotaStatus> all) {
        return series(name, type, help, QuotaStatus::tenant, value, all);
    }

    private static <T> String series(
            String name, String type, String help, Function<T, String> tenant, ToLongFunction<T> value, List<T> all) {
        String full = TENANT + name;
        StringBuilder text = new StringBuilder("# HELP %s %s\n# TYPE %s %s\n".formatted(full, help, full, type));
        for (T one : all) {
            text.append("%s{tenant=\"%s\"} %d\n".formatted(full, tenant.apply(one), value.applyAsLong(one)));
        }
        return text.toString();
    }
}
