// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.master.core.tenant.Quotas;

/** Settings of cores for tests, which say what they are about; the rest is as it is in a pool without further wishes. */
public final class PlainSettings {
    private static final long LEASE_DURATION_MS = 5_000;

    private PlainSettings() {}

    /** Without quotas. */
    public static CacheRules rules(
            long objectLeaseMs,
            EvictionRules eviction,
            int replicas,
            long repairDelayMs,
            long repairBytesPerSecond,
            Consistency consistency) {
        return new CacheRules(
                objectLeaseMs, eviction, replicas, repairDelayMs, repairBytesPerSecond, consistency, Quotas.NONE);
    }

    /** Strict ones. */
    public static CacheRules rules(
            long objectLeaseMs, EvictionRules eviction, int replicas, long repairDelayMs, long repairBytesPerSecond) {
        return rules(objectLeaseMs, eviction, replicas, repairDelayMs, repairBytesPerSecond, Consistency.STRICT);
    }

    /** A leader is sure as long as its Lease is valid, no evictions are told, and the index may be as large as it can be. */
    public static CoreSettings of(
            String name,
            long objectLeaseMs,
            EvictionRules eviction,
            int replicas,
            long repairDelayMs,
            long repairBytesPerSecond) {
        CacheRules rules = rules(objectLeaseMs, eviction, replicas, repairDelayMs, repairBytesPerSecond);
        return new CoreSettings(name, rules, LEASE_DURATION_MS, 0, false, Slabs.BYTES_NAMED, Integer.MAX_VALUE, false);
    }

    /** With these watermarks, and no takeover reserve. */
    public static CoreSettings of(
            String name,
            long objectLeaseMs,
            double highWatermark,
            double lowWatermark,
            int replicas,
            long repairDelayMs,
            long repairBytesPerSecond) {
        EvictionRules eviction = EvictionRules.between(lowWatermark, highWatermark);
        return of(name, objectLeaseMs, eviction, replicas, repairDelayMs, repairBytesPerSecond);
    }
}
