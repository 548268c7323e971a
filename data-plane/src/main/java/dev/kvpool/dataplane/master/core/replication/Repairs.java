// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.replication;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.command.Frees;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.ObjectChain;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.Standings;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.plan.CopyPlan;
import dev.kvpool.dataplane.master.core.plan.CopyPlan.Site;
import dev.kvpool.dataplane.master.core.plan.CopyPlan.Step;
import dev.kvpool.dataplane.master.core.register.Absences;
import dev.kvpool.dataplane.wire.message.Authority;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;

/**
 * Goes through the published objects, hottest first and a bounded number in one tick, as long as some lack a copy, have one
 * too many, or lie on a node that is being drained; and once, where there are zones, whenever a node came or went, since nothing
 * counts the objects whose copies all lie in one zone. What {@link CopyPlan} says is done as far as {@link Copies} lets it; what
 * has to wait is tried again before the pass goes on.
 */
public final class Repairs {
    private static final String BEING_COPIED = "is being copied";

    private final CurrentRules rules;
    private final Membership membership;
    private final Index index;
    private final Frees frees;
    private final Absences absences;
    private final Copies copies;
    private final CopyTasks tasks;
    private final Drains drains;
    private final Counters counters;
    private final Sites sites;

    private ObjectChain.Walk walk;

    /** Objects with all copies in one zone have not been looked for since a node came or went. */
    private boolean mayBeUnspread = true;

    /** This pass looks for them. */
    private boolean spreading;

    private final Deque<StoredObject.Name> waiting = new ArrayDeque<>();
    /** Something was done since the last pass ended. */
    private boolean progress;

    /** Bytes of the objects this pass has come by, which are hotter than all that follow. */
    private long hotterBytes;

    private long nextPassMs = Long.MIN_VALUE;
    private long restMs = Bounds.REPAIR_REST_MS_MIN;
    private long lastTickMs = Long.MIN_VALUE;

    public Repairs(
            CurrentRules rules,
            View view,
            Orders orders,
            Copies copies,
            CopyTasks tasks,
            Standings standings,
            Drains drains,
            Counters counters) {
        this.rules = rules;
        this.membership = view.membership();
        this.index = view.index();
        this.frees = orders.frees();
        this.absences = orders.absences();
        this.copies = copies;
        this.tasks = tasks;
        this.drains = drains;
        this.counters = counters;
        this.sites = new Sites(rules, view.room(), membership, copies, standings);
    }

    /** What can be done may have changed: a node came or went, or a drain began. */
    public void lookAgain() {
        mayBeUnspread = true;
        nextPassMs = Long.MIN_VALUE;
        restMs = Bounds.REPAIR_REST_MS_MIN;
    }

    public void endTerm() {
        endWalk();
        lookAgain();
    }

    public void tick(Authority authority, long nowMs) {
        if (hasGivenUpOnANode(nowMs)) {
            lookAgain();
        }
        lastTickMs = nowMs;
        if (walk == null && (nowMs < nextPassMs || !(mayBeUnspread || isNeeded()))) {
            return;
        }
        Map<String, Site> now = sites.at(nowMs);
        if (walk == null && !beginPass(now)) {
            return;
        }
        boolean ended = retry(now, authority, nowMs) && goOn(now, authority, nowMs);
        if (ended) {
            endPass(nowMs);
        }
    }

    /** False when there is nothing to do. */
    private boolean beginPass(Map<String, Site> now) {
        spreading = mayBeUnspread && CopyPlan.hasZones(now.values());
        mayBeUnspread = false;
        if (!spreading && !isNeeded()) {
            return false;
        }
        walk = index.recency().fromLast();
        hotterBytes = 0;
        drains.passBegins();
        return true;
    }

    private boolean isNeeded() {
        return index.shortOfCopies() > 0 || index.overReplicated() > 0 || drains.isActive();
    }

    /** Whether a node has just been away for so long that its replicas are made anew. */
    private boolean hasGivenUpOnANode(long nowMs) {
        for (NodeView node : membership.all()) {
            long atMs = node.awaySinceMs() + rules.repairDelayMs();
            if (!node.isConnected() && lastTickMs < atMs && atMs <= nowMs) {
                return true;
            }
        }
        return false;
    }

    /** Tries what had to wait; false when it still has to and no more may. */
    private boolean retry(Map<String, Site> now, Authority authority, long nowMs) {
        for (int i = waiting.size(); i > 0; i--) {
            StoredObject object = index.object(waiting.remove());
            if (object != null && object.fate() == StoredObject.Fate.PUBLISHED) {
                visit(object, false, now, authority, nowMs);
            }
        }
        return waiting.size() < Bounds.COPIES_WAITING_MAX;
    }

    /** Goes on with the pass; true when it has come to its end. */
    private boolean goOn(Map<String, Site> now, Authority authority, long nowMs) {
        for (int i = 0; i < Bounds.REPAIR_VISITS_PER_TICK; i++) {
            StoredObject object = walk.next();
            if (object == null) {
                return waiting.isEmpty();
            }
            visit(object, true, now, authority, nowMs);
            if (waiting.size() >= Bounds.COPIES_WAITING_MAX) {
                return false;
            }
        }
        return false;
    }

    /** @param first this pass has not come by the object before */
    private void visit(StoredObject object, boolean first, Map<String, Site> now, Authority authority, long nowMs) {
        boolean even = object.usableCopies() == object.wanted();
        if (even && !drains.isActive() && !(spreading && object.wanted() > 1)) {
            return;
        }
        List<Site> holders = new ArrayList<>(object.replicaCount());
        long bytes = 0;
        for (Replica replica : object.replicas()) {
            bytes = replica.extentBytes();
            Site site = now.get(replica.node().id);
            if (!replica.isFreeing() && !holders.contains(site)) {
                holders.add(site);
            }
        }
        hotterBytes += first ? bytes : 0;
        clear(object, holders, nowMs);
        if (CopyPlan.missing(object.wanted(), holders) > 0) {
            Replica leaving = soleReplica(object, holders);
            // A copy elsewhere would be believed.
            String why = object.isAvailable() && !absences.mayRead(object)
                    ? "may have been removed: no node that knows is there"
                    : copy(object, bytes, leaving, holders, now, now.values(), authority, nowMs);
            drains.left(first ? leaving : null, why);
        } else if (object.usableCopies() > object.wanted() && !object.isLeased(nowMs) && !tasks.isOpenFor(object)) {
            trim(object, holders);
        } else if (spreading && even && absences.mayRead(object)) {
            List<Site> elsewhere = CopyPlan.elsewhere(holders, now.values(), bytes);
            if (!elsewhere.isEmpty()) {
                copy(object, bytes, null, holders, now, elsewhere, authority, nowMs);
            }
        }
    }

    /** Starts a copy to one of the targets, or makes way for one; the sentence says what becomes of the object. */
    private String copy(
            StoredObject object,
            long bytes,
            Replica leaving,
            List<Site> holders,
            Map<String, Site> now,
            Collection<Site> targets,
            Authority authority,
            long nowMs) {
        if (copies.isUnderWay(object.name())) {
            return BEING_COPIED;
        }
        Step step = CopyPlan.next(holders, targets, copies.unreadableAt(object.name()), bytes);
        switch (step.obstacle()) {
            case NONE -> {
                NodeView target = membership.node(step.target());
                copies.start(on(object, step.source()), target, authority, this::copied);
                now.put(target.id, sites.at(target, nowMs));
                now.put(step.source(), sites.at(membership.node(step.source()), nowMs));
                return BEING_COPIED;
            }
            case BUDGET -> waiting.add(object.name());
            case NO_ROOM -> makeRoom(leaving, holders, now, bytes);
            case NO_SOURCE, NO_NODE -> {}
        }
        return step.obstacle().sentence();
    }

    private void copied(String source, String target, long bytes, boolean done) {
        if (done) {
            progress = true;
            drains.moved(source, bytes);
        }
    }

    /** The replica on a leaving node that no other usable node has; null when there is none. */
    private static Replica soleReplica(StoredObject object, List<Site> holders) {
        for (Site holder : holders) {
            if (holder.serves() && !holder.leaving()) {
                return null;
            }
        }
        for (Replica replica : object.replicas()) {
            if (replica.node().usable() && replica.node().leaving()) {
                return replica;
            }
        }
        return null;
    }

    /**
     * Only for what a drain would lose, and only if it is hotter than what has to go for it: what the other nodes can hold
     * is filled from the hot end, and eviction takes from the cold one.
     */
    private void makeRoom(Replica leaving, List<Site> holders, Map<String, Site> now, long bytes) {
        long capacity = 0;
        NodeView largest = null;
        for (Site site : now.values()) {
            if (site.takes() && !holders.contains(site)) {
                NodeView node = membership.node(site.id());
                capacity += (long) (node.room.capacityBytes() * rules.eviction().high());
                largest = largest == null || isLarger(node, largest) ? node : largest;
            }
        }
        if (leaving != null && largest != null && hotterBytes <= capacity) {
            largest.room.want(bytes);
            progress = true;
        }
    }

    private static boolean isLarger(NodeView node, NodeView than) {
        return node.room.capacityBytes() - node.room.shortage.wantedBytes()
                > than.room.capacityBytes() - than.room.shortage.wantedBytes();
    }

    /**
     * No reader has a promise that names a node which may be cleared, so leases of the object are no matter. The nodes that are cleared of it
     * are its holders no more.
     */
    private void clear(StoredObject object, List<Site> holders, long nowMs) {
        boolean stays = holders.stream().anyMatch(holder -> holder.serves() && !holder.leaving());
        if (!stays || copies.isUnderWay(object.name())) {
            return;
        }
        for (Site holder : List.copyOf(holders)) {
            NodeView node = membership.node(holder.id());
            if (holder.serves() && drains.isBeingCleared(node, nowMs)) {
                frees.trimAll(object, node);
                holders.remove(holder);
                counters.add(Count.TRIMMED);
                progress = true;
            }
        }
    }

    private void trim(StoredObject object, List<Site> holders) {
        for (String id : CopyPlan.surplus(object.wanted(), holders)) {
            frees.trimAll(object, membership.node(id));
            counters.add(Count.TRIMMED);
            progress = true;
        }
    }

    /** From memory, where both media of the node have it. */
    private static Replica on(StoredObject object, String node) {
        Replica found = null;
        for (Replica replica : object.replicas()) {
            boolean there = replica.node().id.equals(node) && !replica.isFreeing();
            found = there && (found == null || replica.isInMemory()) ? replica : found;
        }
        if (found != null) {
            return found;
        }
        throw new IllegalStateException("object " + object.id() + " has no replica on " + node);
    }

    private void endPass(long nowMs) {
        endWalk();
        drains.passEnded(nowMs);
        // What fails is not tried again and again at once; a drain, which somebody waits for, is looked at all the
        // time.
        boolean soon = progress || drains.isActive();
        progress = false;
        restMs = soon ? Bounds.REPAIR_REST_MS_MIN : Math.min(2 * restMs, Bounds.REPAIR_REST_MS_MAX);
        nextPassMs = nowMs + restMs;
    }

    private void endWalk() {
        waiting.clear();
        if (walk != null) {
            walk.end();
            walk = null;
        }
    }
}
