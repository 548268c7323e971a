// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.report;

import dev.kvpool.dataplane.master.core.tenant.TenantReads;
import dev.kvpool.dataplane.master.core.tenant.TenantReads.Reads;
import dev.kvpool.dataplane.master.core.tenant.TenantSums.Sum;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * What one tenant has and reads; other tenants than the default one, for which the numbers of the whole pool stand.
 *
 * @param objects that this master knows of
 * @param bytes of the extents of all their copies
 * @param hits keys that its clients looked up and found, since this process began
 * @param misses keys that they did not find
 */
public record TenantStatus(String name, long objects, long bytes, long hits, long misses) {
    /** Those of most bytes, by name, at most {@link TenantReads#TENANTS_MAX} of them. */
    static List<TenantStatus> of(Map<String, Sum> sums, Map<String, Reads> reads) {
        TreeSet<String> names = new TreeSet<>(sums.keySet());
        names.addAll(reads.keySet());
        List<TenantStatus> tenants = new ArrayList<>();
        for (String name : names) {
            Sum sum = sums.getOrDefault(name, new Sum(0, 0));
            Reads read = reads.getOrDefault(name, Reads.NONE);
            tenants.add(new TenantStatus(name, sum.objects(), sum.bytes(), read.hits(), read.misses()));
        }
        if (tenants.size() > TenantReads.TENANTS_MAX) {
            tenants.sort((one, other) -> Long.compare(other.bytes, one.bytes));
            tenants.subList(TenantReads.TENANTS_MAX, tenants.size()).clear();
            tenants.sort((one, other) -> one.name.compareTo(other.name));
        }
        return List.copyOf(tenants);
    }
}
