// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.Counters.Count;

/** Carries out the plans of {@link Eviction} while this master serves. */
final class Evictor {
    private final CoreSettings settings;
    private final Leadership leadership;
    private final Membership membership;
    private final Index index;
    private final Frees frees;
    private final Counters counters;
    private long restsUntilMs = Long.MIN_VALUE;

    Evictor(
            CoreSettings settings,
            Leadership leadership,
            Membership membership,
            Index index,
            Frees frees,
            Counters counters) {
        this.settings = settings;
        this.leadership = leadership;
        this.membership = membership;
        this.index = index;
        this.frees = frees;
        this.counters = counters;
    }

    void tick(long nowMs) {
        boolean due = leadership.serves(nowMs) && nowMs >= restsUntilMs;
        if (!due || !Eviction.isNeeded(membership.all(), settings.highWatermark())) {
            return;
        }
        Eviction.Plan plan = Eviction.plan(
                membership.all(), index.recency(), settings.highWatermark(), settings.lowWatermark(), nowMs);
        for (StoredObject victim : plan.victims()) {
            for (Replica replica : victim.replicas()) {
                counters.add(Count.EVICTED_BYTES, replica.extentBytes());
            }
            frees.giveUp(victim, nowMs);
        }
        counters.add(Count.EVICTED, plan.victims().size());
        membership.all().forEach(node -> node.wantedBytes = 0);
        if (!plan.sufficient()) {
            counters.add(Count.EVICTIONS_SHORT);
            restsUntilMs = nowMs + Bounds.EVICTION_PAUSE_MS;
        }
    }
}
