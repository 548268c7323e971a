// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.master.core.tenant.Quotas;

/**
 * The rules of a pool's cache; all of them may change while a master runs.
 *
 * @param objectLeaseMs how long an object a reader was told about is neither evicted nor removed
 * @param replicas copies of an object on different nodes when the client does not say
 * @param repairDelayMs how long a node may be away before its replicas are made anew elsewhere
 * @param repairBytesPerSecond what copies may take of a node, in each direction
 * @param consistency whether what may have been removed or replaced is served when no witness can tell
 * @param quotas what tenants may have, and what others leave them
 */
public record CacheRules(
        long objectLeaseMs,
        EvictionRules eviction,
        int replicas,
        long repairDelayMs,
        long repairBytesPerSecond,
        Consistency consistency,
        Quotas quotas) {
    public CacheRules {
        if (objectLeaseMs < 0 || objectLeaseMs > Bounds.OBJECT_LEASE_MS_MAX) {
            throw new IllegalArgumentException("the object lease must be 0 to 24 h, not " + objectLeaseMs + " ms");
        }
        if (replicas < 1 || replicas > Bounds.REPLICAS_MAX) {
            throw new IllegalArgumentException("replicas must be 1 to " + Bounds.REPLICAS_MAX + ", not " + replicas);
        }
        if (repairDelayMs < 0 || repairBytesPerSecond <= 0) {
            throw new IllegalArgumentException("the repair delay must not be negative and the repair rate above 0, not "
                    + repairDelayMs + " ms and " + repairBytesPerSecond + " bytes/s");
        }
    }
}
