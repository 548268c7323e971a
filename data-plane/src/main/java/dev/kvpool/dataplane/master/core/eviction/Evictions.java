// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.Change.Cause;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.command.Frees;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.RecentRemovals;
import dev.kvpool.dataplane.master.core.tenant.QuotaOutcomes;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.List;

/** Where everybody hears of an eviction who has to: the metrics, those who ask why a key is missing, and the eviction log. */
public final class Evictions {
    private final CurrentRules rules;
    private final Counters counters;
    private final RecentRemovals removals;
    private final Frees frees;
    private final QuotaOutcomes outcomes;
    private final Outbox outbox;
    private final boolean logged;

    /** @param logged whether there is an eviction log */
    public Evictions(
            CurrentRules rules,
            Counters counters,
            RecentRemovals removals,
            Frees frees,
            QuotaOutcomes outcomes,
            Outbox outbox,
            boolean logged) {
        this.rules = rules;
        this.counters = counters;
        this.removals = removals;
        this.frees = frees;
        this.outcomes = outcomes;
        this.outbox = outbox;
        this.logged = logged;
    }

    /** Evicts an object from every node that holds it. */
    void evict(StoredObject victim, long nowMs) {
        tell(victim, nowMs);
        for (Replica replica : victim.replicas()) {
            counters.add(Count.EVICTED_BYTES, replica.extentBytes());
            replica.node().room.shortage.roomMayCome();
        }
        frees.giveUp(victim, Cause.EVICTED, nowMs);
    }

    /** The object goes for good, from every node that holds it; told before it is given up. */
    void tell(StoredObject victim, long nowMs) {
        long idleMs = nowMs - victim.leaseUntilMs();
        counters.add(Count.EVICTED);
        counters.ages().add(idleMs);
        Key key = victim.key();
        removals.evicted(key);
        Tenant tenant = victim.tenant();
        if (!tenant.isDefault() || rules.quotas().areAny()) {
            long bytes = 0;
            for (Replica replica : victim.replicas()) {
                bytes += replica.extentBytes();
            }
            outcomes.evicted(tenant, bytes);
        }
        if (!logged) {
            return;
        }
        List<String> nodes = new ArrayList<>(victim.replicaCount());
        victim.replicas().forEach(replica -> nodes.add(replica.node().id));
        outbox.evicted(new Action.Evicted(key, victim.id(), victim.payloadLength(), nodes, idleMs));
    }
}
