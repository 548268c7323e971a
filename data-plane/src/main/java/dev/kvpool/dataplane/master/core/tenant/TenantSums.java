// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.tenant;

import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.Map;
import java.util.TreeMap;

/** What other tenants than the default one have in the index. It is kept as that comes and goes; for objects of the default one nothing is done. */
public final class TenantSums {
    /**
     * What one tenant has.
     *
     * @param objects of whatever fate
     * @param bytes of the extents of all their replicas
     */
    public record Sum(long objects, long bytes) {
        private static final Sum NOTHING = new Sum(0, 0);
    }

    private final Map<String, Sum> sums = new TreeMap<>();

    /** An object came or went, or takes more or less. */
    public void add(Key qualified, long objects, long bytes) {
        String name = Tenant.of(qualified).name();
        Sum before = sums.getOrDefault(name, Sum.NOTHING);
        Sum after = new Sum(before.objects + objects, before.bytes + bytes);
        if (after.equals(Sum.NOTHING)) {
            sums.remove(name);
        } else {
            sums.put(name, after);
        }
    }

    /** Whether any tenant has anything. */
    public boolean areAny() {
        return !sums.isEmpty();
    }

    /** By the name of the tenant; what is here now. */
    public Map<String, Sum> now() {
        return new TreeMap<>(sums);
    }
}
