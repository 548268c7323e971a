// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.master.core.tenant.Quotas;

/** The rules of the cache as they are now. They change between two inputs, so who keeps none of them follows at once. */
public final class CurrentRules {
    private CacheRules now;

    public CurrentRules(CacheRules first) {
        now = first;
    }

    public void become(CacheRules next) {
        now = next;
    }

    public CacheRules all() {
        return now;
    }

    public EvictionRules eviction() {
        return now.eviction();
    }

    public Quotas quotas() {
        return now.quotas();
    }

    public int replicas() {
        return now.replicas();
    }

    public long repairDelayMs() {
        return now.repairDelayMs();
    }

    public long repairBytesPerSecond() {
        return now.repairBytesPerSecond();
    }

    /** What is wanted; what may be promised yet, {@code ObjectLeases} knows. */
    public long objectLeaseMs() {
        return now.objectLeaseMs();
    }

    /** Whether what a node shows that is behind is served though nobody knows what it has missed. */
    public boolean servesBehind() {
        return now.consistency() == Consistency.AVAILABLE;
    }
}
