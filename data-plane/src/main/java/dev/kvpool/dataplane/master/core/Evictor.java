// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.Counters.Count;
import dev.kvpool.dataplane.master.core.Eviction.Round;

/**
 * Evicts, while this master serves, as {@link Eviction} judges: from the least recently used object on, through all of them
 * if need be, but a bounded number in a turn. Only a walk that found nothing more to take ends without success; after a short
 * rest the next one begins, since leases end. So a full pool goes on losing objects as long as it holds one that may go.
 */
final class Evictor {
    private final EvictionRules rules;
    private final Leadership leadership;
    private final Membership membership;
    private final Index index;
    private final Groups groups;
    private final Frees frees;
    private final Departed departed;
    private final Counters counters;

    /** The walk under way, null when there is none, and what it may take. */
    private ObjectChain.Walk walk;

    private Round round = Round.UNPINNED;
    private long restsUntilMs = Long.MIN_VALUE;

    Evictor(
            EvictionRules rules,
            Leadership leadership,
            Membership membership,
            Index index,
            Groups groups,
            Frees frees,
            Departed departed,
            Counters counters) {
        this.rules = rules;
        this.leadership = leadership;
        this.membership = membership;
        this.index = index;
        this.groups = groups;
        this.frees = frees;
        this.departed = departed;
        this.counters = counters;
    }

    void tick(long nowMs) {
        Eviction eviction = leadership.serves(nowMs) ? new Eviction(membership.all(), rules) : null;
        if (eviction == null || !eviction.isNeeded()) {
            endWalk();
        } else if (walk != null || nowMs >= restsUntilMs) {
            walkOn(eviction, nowMs);
        }
    }

    private void walkOn(Eviction eviction, long nowMs) {
        if (walk == null) {
            begin(Round.UNPINNED);
        }
        for (int visits = 0; visits < Bounds.EVICTION_VISITS && eviction.isNeeded(); visits++) {
            StoredObject object = walk.next();
            if (object != null) {
                visit(object, eviction, nowMs);
            } else if (round == Round.UNPINNED && rules.evictSoftPinned()) {
                endWalk();
                begin(Round.SOFTLY_PINNED);
            } else {
                foundTooLittle(eviction, nowMs);
                return;
            }
        }
        if (!eviction.isNeeded()) {
            endWalk();
        }
    }

    private void begin(Round what) {
        round = what;
        walk = index.recency().fromFirst();
    }

    private void endWalk() {
        if (walk != null) {
            walk.end();
            walk = null;
        }
    }

    private void visit(StoredObject object, Eviction eviction, long nowMs) {
        if (groups.refresh(object)) {
            return; // its turn comes again further on, among the objects that were used when its group was
        }
        if (!eviction.mayTake(object, round, nowMs) || !eviction.helps(object)) {
            return;
        }
        for (StoredObject other : groups.others(object)) {
            if (eviction.mayTake(other, round, nowMs)) {
                evict(other, eviction, nowMs);
            }
        }
        evict(object, eviction, nowMs);
    }

    private void evict(StoredObject victim, Eviction eviction, long nowMs) {
        counters.add(Count.EVICTED);
        counters.ages().add(nowMs - victim.leaseUntilMs());
        for (Replica replica : victim.replicas()) {
            counters.add(Count.EVICTED_BYTES, replica.extentBytes());
        }
        departed.evicted(victim.key());
        eviction.book(victim);
        frees.giveUp(victim, nowMs);
    }

    /** Everything that is left is leased or pinned. Who waits for room had better look elsewhere for a while. */
    private void foundTooLittle(Eviction eviction, long nowMs) {
        endWalk();
        counters.add(Count.EVICTIONS_SHORT);
        restsUntilMs = nowMs + Bounds.EVICTION_PAUSE_MS;
        for (NodeView node : membership.all()) {
            node.wantedBytes = 0;
            if (eviction.isNeededOn(node)) {
                node.barrenUntilMs = nowMs + Bounds.BARREN_MS;
            }
        }
    }
}
