// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.eviction.Eviction.Round;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.IndexRoom;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.ObjectChain;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Groups;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.reconciliation.Reconciliation;
import dev.kvpool.dataplane.master.core.removal.Predecessors;
import dev.kvpool.dataplane.master.core.room.Shortage;

/**
 * Evicts, while this master serves, as {@link Eviction} judges, or sends to the SSD, as {@link MemoryPressure} does: from the
 * first object in the order of eviction on, through all of them if need be, but bounded in a turn, so that no request waits long behind one: what writers put pays for the room it takes, and
 * each tick goes on by more. Only a walk that found nothing more to take ends without success; after a short
 * rest the next one begins, since leases end. So a full pool goes on losing objects as long as it holds one that may go. As long
 * as all that this leader has found is leased, walks begin behind it.
 */
public final class Evictor {
    private final CurrentRules rules;
    private final Leadership leadership;
    private final Membership membership;
    private final Reconciliation reconciliation;
    private final Index index;
    private final IndexRoom room;
    private final Groups groups;
    private final Predecessors predecessors;
    private final RetainedObjects retained;
    private final Evictions evictions;
    private final Counters counters;
    private final MemoryPressure pressure;
    private final GuaranteedRoom guaranteed;

    /** The walk under way, null when there is none, and what it may take. */
    private ObjectChain.Walk walk;

    /** Stands where what was put or used since this master serves begins; null when what lies before may be evicted as well. */
    private ObjectChain.StraightWalk sinceTakeover;

    private Round round = Round.UNPINNED;

    /** The walk takes from those tenants that are furthest above their guarantees; a later one from all that are above. */
    private boolean furthestOnly;

    private long restsUntilMs = Long.MIN_VALUE;

    /** How much may still be done in this turn, counted in objects looked at. */
    private int left;

    public Evictor(
            CurrentRules rules,
            Leadership leadership,
            View view,
            Reconciliation reconciliation,
            Predecessors predecessors,
            MemoryPressure pressure,
            RetainedObjects retained,
            Evictions evictions,
            Counters counters) {
        this.rules = rules;
        this.leadership = leadership;
        this.membership = view.membership();
        this.reconciliation = reconciliation;
        this.index = view.index();
        this.room = view.room();
        this.groups = view.groups();
        this.predecessors = predecessors;
        this.retained = retained;
        this.evictions = evictions;
        this.counters = counters;
        this.pressure = pressure;
        this.guaranteed = new GuaranteedRoom(rules, view);
    }

    /** This master serves from now on. */
    public void serving() {
        sinceTakeover = index.recency().throughWhatComes();
    }

    public void endTerm() {
        endWalk();
        predecessors.endTerm();
        sinceTakeover = end(sinceTakeover);
        restsUntilMs = Long.MIN_VALUE;
    }

    /** The walk under way was begun for other needs, and what was left to rest may go now. */
    public void rulesChanged() {
        endWalk();
        restsUntilMs = Long.MIN_VALUE;
    }

    public void tick(long nowMs) {
        pressure.tick(nowMs);
        index.setRoom(objectsInMemory());
        if (!reconciliation.isRecovering(nowMs)) {
            sinceTakeover = end(sinceTakeover);
        }
        evict(Bounds.EVICTION_VISITS, true, nowMs);
    }

    private int objectsInMemory() {
        long replicas = 0;
        for (NodeView node : membership.all()) {
            replicas += node.room.usedSlots();
        }
        return (int) Math.min(index.publishedCount(), replicas / rules.replicas());
    }

    /** So many objects were put: when room is being made, as many again are evicted, and one more for each. */
    public void put(int objects, long nowMs) {
        if (walk != null) {
            evict(2 * objects * Bounds.EVICTED_IS_VISITS, false, nowMs);
        }
    }

    /** @param ofTick which tenants are furthest above their guarantees is judged from tick to tick, not for each put */
    private void evict(int visits, boolean ofTick, long nowMs) {
        left = visits;
        Eviction eviction = leadership.serves(nowMs) ? eviction() : null;
        if (eviction == null || !eviction.isNeeded()) {
            counters.add(Count.EVICTION_RUNS_ENOUGH, eviction != null && walk != null ? 1 : 0);
            endWalk();
            predecessors.enough();
        } else if (walk != null || nowMs >= restsUntilMs) {
            predecessors.look();
            if (ofTick) {
                guaranteed.look(eviction.bytesToLose());
            }
            walkOn(eviction, nowMs);
        }
    }

    private Eviction eviction() {
        return new Eviction(membership.all(), rules.eviction(), retained, room.replicasToLose(membership.all()));
    }

    private void walkOn(Eviction eviction, long nowMs) {
        // Who is furthest is judged by the bytes that have to go. Records have to go one for one, wherever they are.
        boolean byBytes = guaranteed.isAny() && eviction.bytesToLose() > 0 && !eviction.isForIndex();
        if (walk == null) {
            counters.add(Count.EVICTION_RUNS);
            furthestOnly = true;
            begin(Round.UNPINNED);
        }
        furthestOnly &= byBytes;
        while (left > 0 && eviction.isNeeded()) {
            left--;
            StoredObject object = walk.next();
            if (object != null) {
                visit(object, eviction, nowMs);
            } else if (furthestOnly) {
                endWalk();
                furthestOnly = false;
                begin(Round.UNPINNED);
            } else if (round == Round.UNPINNED && rules.eviction().evictSoftPinned()) {
                endWalk();
                begin(Round.SOFTLY_PINNED);
            } else if (round != Round.RETAINED && !retained.isEmpty() && nothingElseGivesWay(eviction, nowMs)) {
                endWalk();
                begin(Round.RETAINED);
            } else {
                foundTooLittle(eviction, nowMs);
                return;
            }
        }
        if (!eviction.isNeeded()) {
            counters.add(Count.EVICTION_RUNS_ENOUGH);
            endWalk();
        }
    }

    private void begin(Round what) {
        round = what;
        walk = sinceTakeover == null ? index.evict() : sinceTakeover.evictFromHere();
        if (what == Round.UNPINNED) {
            long before = sinceTakeover == null ? Shortage.NO_ROOM_EVER : reconciliation.recoveredUntilMs();
            membership.all().forEach(node -> node.room.shortage.walkBegins(before));
        }
    }

    private boolean nothingElseGivesWay(Eviction eviction, long nowMs) {
        for (NodeView node : membership.all()) {
            if (eviction.isNeededOn(node)
                    && node.room.shortage.nothingComesBefore(nowMs + Bounds.RETAINED_GIVES_WAY_MS)) {
                return true;
            }
        }
        return false;
    }

    private void endWalk() {
        walk = end(walk);
    }

    private static <T extends ObjectChain.Walk> T end(T ended) {
        if (ended != null) {
            ended.end();
        }
        return null;
    }

    private void visit(StoredObject object, Eviction eviction, long nowMs) {
        if (groups.refresh(object)) {
            return; // its turn comes again further on, among the objects that were used when its group was
        }
        if (!eviction.mayTake(object, round, nowMs)) {
            passOver(object, eviction.mayTakeFromMs(object, round, nowMs));
            return;
        }
        if (!eviction.helps(object)) {
            return;
        }
        if (!eviction.isForIndex() && !pressure.mustEvict(object, eviction, nowMs)) {
            left -= Bounds.EVICTED_IS_VISITS;
            return;
        }
        if (!mayLose(object)) {
            return;
        }
        if (!predecessors.mayBeLeft(object, nowMs)) {
            passOver(object, nowMs); // as soon as that is written down
            return;
        }
        for (StoredObject other : groups.others(object)) {
            if (eviction.mayTake(other, round, nowMs) && mayLose(other) && predecessors.mayBeLeft(other, nowMs)) {
                evict(other, eviction, nowMs);
            }
        }
        if (mayLose(object)) { // what went of its group may have been all that its tenant had above the guarantee
            evict(object, eviction, nowMs);
        }
    }

    private boolean mayLose(StoredObject object) {
        return guaranteed.mayLose(object, furthestOnly);
    }

    /** Who finds no room on a node now is told when the first of what it holds may go. */
    private static void passOver(StoredObject object, long fromMs) {
        for (Replica replica : object.replicas()) {
            replica.node().room.shortage.passedBy(fromMs);
        }
    }

    private void evict(StoredObject victim, Eviction eviction, long nowMs) {
        left -= Bounds.EVICTED_IS_VISITS;
        counters.add(Count.RETAINED_EVICTED, retained.holds(victim, nowMs) ? 1 : 0);
        eviction.book(victim);
        evictions.evict(victim, nowMs);
    }

    /** Everything that is left is leased or pinned. Who waits for room had better look elsewhere for a while. */
    private void foundTooLittle(Eviction eviction, long nowMs) {
        endWalk();
        predecessors.nothingElseIsLeft();
        counters.add(Count.EVICTIONS_SHORT);
        restsUntilMs = nowMs + Bounds.EVICTION_PAUSE_MS;
        for (NodeView node : membership.all()) {
            node.room.shortage.wantNothing();
            if (eviction.isNeededOn(node)) {
                node.room.shortage.foundNothing(nowMs + Bounds.BARREN_MS);
            }
        }
    }
}
