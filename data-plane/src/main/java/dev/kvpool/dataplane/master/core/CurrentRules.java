// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

/** The rules of the cache as they are now. They change between two inputs, so who keeps none of them follows at once. */
final class CurrentRules {
    private CacheRules now;

    CurrentRules(CacheRules first) {
        now = first;
    }

    void become(CacheRules next) {
        now = next;
    }

    CacheRules all() {
        return now;
    }

    EvictionRules eviction() {
        return now.eviction();
    }

    int replicas() {
        return now.replicas();
    }

    long repairDelayMs() {
        return now.repairDelayMs();
    }

    long repairBytesPerSecond() {
        return now.repairBytesPerSecond();
    }

    /** What is wanted; what may be promised yet, {@link ObjectLeases} knows. */
    long objectLeaseMs() {
        return now.objectLeaseMs();
    }

    /** Whether what a node shows that is behind is served though nobody knows what it has missed. */
    boolean servesBehind() {
        return now.consistency() == Consistency.AVAILABLE;
    }
}
