// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Change.Cause;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.command.Frees;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.ObjectChain;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.removal.Predecessors;
import dev.kvpool.dataplane.master.core.room.Need;
import java.util.HashMap;
import java.util.Map;

/**
 * Keeps room on the SSDs: from the first object in the order of eviction on, a bounded number of them in a tick, what lies on an SSD
 * that is too full is freed there. What memory has as well stays readable; the other is evicted for good. Leased and pinned
 * objects stay, as with {@link Evictor}.
 */
public final class SsdEvictor {
    private final CurrentRules rules;
    private final Leadership leadership;
    private final Membership membership;
    private final Index index;
    private final Frees frees;
    private final Predecessors predecessors;
    private final RetainedObjects retained;
    private final Evictions evictions;
    private final Counters counters;
    private final GuaranteedRoom guaranteed;

    /** What the SSDs that were too full when the walk began still have to lose. */
    private final Map<NodeView, Need> needs = new HashMap<>();

    /** The walk under way, null when there is none. */
    private ObjectChain.Walk walk;

    /** What may go, as the walk under way judges. */
    private Eviction judge;

    private long restsUntilMs = Long.MIN_VALUE;

    public SsdEvictor(
            CurrentRules rules,
            Leadership leadership,
            View view,
            Orders orders,
            Predecessors predecessors,
            RetainedObjects retained,
            Evictions evictions,
            Counters counters) {
        this.rules = rules;
        this.leadership = leadership;
        this.membership = view.membership();
        this.index = view.index();
        this.frees = orders.frees();
        this.predecessors = predecessors;
        this.retained = retained;
        this.evictions = evictions;
        this.counters = counters;
        this.guaranteed = new GuaranteedRoom(rules, view);
    }

    /** The walk under way ends, and the next one begins when one is needed. */
    public void beginAnew() {
        endWalk();
        restsUntilMs = Long.MIN_VALUE;
    }

    public void tick(long nowMs) {
        if (!leadership.serves(nowMs)) {
            endWalk();
        } else if (walk != null || (nowMs >= restsUntilMs && begin())) {
            predecessors.look();
            guaranteed.look(0);
            walkOn(nowMs);
        }
    }

    /** Whether any SSD has to lose something. */
    private boolean begin() {
        for (NodeView node : membership.all()) {
            Need need = node.ssd.need();
            if (node.usable() && need.isOpen()) {
                needs.put(node, need);
            }
        }
        judge = Eviction.ofNothing(rules.eviction(), retained);
        walk = needs.isEmpty() ? null : index.evict();
        return walk != null;
    }

    private void walkOn(long nowMs) {
        int left = Bounds.EVICTION_VISITS;
        while (left > 0 && !needs.isEmpty()) {
            StoredObject object = walk.next();
            if (object == null) {
                restsUntilMs = nowMs + Bounds.SSD_PAUSE_MS;
                needs.clear();
            } else {
                left -= visit(object, nowMs) ? Bounds.EVICTED_IS_VISITS : 1;
            }
        }
        if (needs.isEmpty()) {
            endWalk();
        }
    }

    /** Whether something was taken of it. */
    private boolean visit(StoredObject object, long nowMs) {
        for (Replica replica : object.replicas()) {
            boolean pressed = !replica.isInMemory() && !replica.isFreeing() && needs.containsKey(replica.node());
            if (pressed && replica.node().usable() && judge.mayTake(object, Eviction.Round.UNPINNED, nowMs)) {
                return take(object, replica, nowMs);
            }
        }
        return false;
    }

    private boolean take(StoredObject object, Replica onSsd, long nowMs) {
        boolean stays = hasAnother(object, onSsd);
        if (!stays && !guaranteed.mayLose(object, false)) {
            return false;
        }
        if (!stays && !predecessors.mayBeLeft(object, nowMs)) {
            return false; // as soon as that is written down
        }
        book(onSsd);
        counters.add(Count.SSD_EVICTED_BYTES, onSsd.extentBytes());
        if (stays) {
            frees.trim(onSsd);
            return true;
        }
        evictions.tell(object, nowMs);
        frees.giveUp(object, Cause.EVICTED, nowMs);
        return true;
    }

    private void book(Replica onSsd) {
        Need need = needs.get(onSsd.node());
        need.take(onSsd.extentBytes());
        if (!need.isOpen()) {
            needs.remove(onSsd.node());
        }
    }

    private static boolean hasAnother(StoredObject object, Replica than) {
        for (Replica replica : object.replicas()) {
            if (!replica.equals(than) && replica.node().usable() && !replica.isFreeing()) {
                return true;
            }
        }
        return false;
    }

    private void endWalk() {
        if (walk != null) {
            walk.end();
            walk = null;
        }
        needs.clear();
    }
}
