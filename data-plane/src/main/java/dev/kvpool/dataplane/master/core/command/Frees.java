// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.command;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Change.Cause;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.ObjectChain;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.dataplane.wire.message.NodeCommand.Free;
import dev.kvpool.dataplane.wire.message.NodeMessage.CommandAck;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Gives extents back to their nodes. An object that is given up is pending free at once, so no reader is sent there any more, and
 * its extents are freed in batches, a bounded number of them on the way. What a node away holds is freed when it returns.
 */
public final class Frees {
    /** One extent to free, and the removal that waits for it, if one does. */
    private record Item(Extent extent, Removal removal) {}

    /** An object that was given up while readers may still rely on it. */
    private record Quarantined(StoredObject.Name object, long untilMs) {}

    /** Frees that a node was not told of yet, and those it has not confirmed, by request id. */
    private static final class Pending {
        final Deque<Item> queued = new ArrayDeque<>();

        /** The oldest first. */
        final Map<Long, Sent> sent = new LinkedHashMap<>();

        boolean isOverdue(long nowMs) {
            Iterator<Sent> oldestFirst = sent.values().iterator();
            return oldestFirst.hasNext() && nowMs - oldestFirst.next().sinceMs > Bounds.FREE_WAIT_MS;
        }
    }

    private record Sent(List<Item> items, long sinceMs) {}

    /** Where a replica lies. */
    private record Place(NodeView node, ExtentRef extent) {}

    /** Frees that their node has not confirmed and will not. */
    private static final class Abandoned {
        final NodeView node;
        final Deque<Item> items;
        boolean isWaitedFor = true;

        Abandoned(NodeView node, Deque<Item> items) {
            this.node = node;
            this.items = items;
        }
    }

    /** Somebody who waits until every extent of an object is free. */
    public static final class Removal {
        private final Consumer<Boolean> whenDone;

        /** Extents that are not free yet, and one more until all of them are counted. */
        private int open = 1;

        private boolean failed;

        /** @param whenDone told whether every node confirmed */
        public Removal(Consumer<Boolean> whenDone) {
            this.whenDone = whenDone;
        }

        private void done(boolean freed) {
            failed |= !freed;
            open--;
            if (open == 0) {
                whenDone.accept(!failed);
            }
        }
    }

    private final Index index;
    private final Outbox outbox;
    private final LongSupplier requestIds;
    private final PriorityQueue<Quarantined> quarantine =
            new PriorityQueue<>(Comparator.comparingLong(Quarantined::untilMs));

    /** When to look for given up objects that are not found by their ids; and where that stands, null when nothing is looked for. */
    private long unlistedAtMs = Long.MAX_VALUE;

    private ObjectChain.Walk unlisted;

    /** What each node is to free, and was told to; of nodes that are there. */
    private final Map<NodeView, Pending> pending = new HashMap<>();

    /** What waits to be sent to engines: memory of this master that they have. */
    private long queuedOfEngines;

    private final Set<StoredObject.Name> held = new HashSet<>();
    private long nowMs;

    private final Deque<Abandoned> abandoned = new ArrayDeque<>();

    /** Who waits, besides, for what was to be freed already. */
    private final Map<Place, List<Removal>> joined = new HashMap<>();

    /** Nodes with something queued: looking through all nodes after every message would make each one pay for the size of the pool. */
    private final Set<NodeView> queued = new LinkedHashSet<>();

    Frees(Index index, Outbox outbox, LongSupplier requestIds) {
        this.index = index;
        this.outbox = outbox;
        this.requestIds = requestIds;
    }

    /**
     * Gives an object up without waiting for its nodes. While a reader may still rely on it, its extents stay as they are:
     * nobody is sent there any more, but they are freed only when the lease has ended.
     */
    public void giveUp(StoredObject object, Cause cause, long nowMs) {
        index.doom(object, cause);
        freeWhenDue(object, nowMs);
    }

    /** Whether a reader may rely on it still. */
    public boolean isPromised(StoredObject object) {
        return object.isLeased(nowMs);
    }

    private void freeWhenDue(StoredObject object, long nowMs) {
        if (object.isLeased(nowMs)) {
            quarantine(object, object.leaseUntilMs());
        } else if (outlivesOlderOnes(object)) {
            quarantine(object, nowMs + Bounds.OLDER_FIRST_MS);
        } else {
            enqueueAll(object);
        }
    }

    private void quarantine(StoredObject object, long untilMs) {
        if (object.isUnlisted()) {
            unlistedAtMs = Math.min(unlistedAtMs, untilMs);
        } else {
            quarantine.add(new Quarantined(object.name(), untilMs));
        }
    }

    /**
     * Were the newer object of a key freed before an older one in quarantine, a leader after us would find only the older one
     * and believe it. What lies on a node away is not waited for.
     */
    private boolean outlivesOlderOnes(StoredObject object) {
        Key key = object.key();
        for (ObjectId id : index.remains().of(key)) {
            StoredObject other = object.id().isNewerThan(id) ? index.object(id, key) : null;
            if (other != null && other.isAvailable()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Engines that do not free what they are told to, or so slowly that what waits for all engines has come to its bound: then the one for
     * which most waits. What storage nodes are to free is bounded by what they hold.
     */
    public List<NodeView> overdueEngines() {
        List<NodeView> overdue = new ArrayList<>();
        NodeView slowest = null;
        for (Map.Entry<NodeView, Pending> of : pending.entrySet()) {
            NodeView node = of.getKey();
            if (node.isTransient()) {
                slowest = slowest == null || queuedFor(node) > queuedFor(slowest) ? node : slowest;
                if (of.getValue().isOverdue(nowMs)) {
                    overdue.add(node);
                }
            }
        }
        if (overdue.isEmpty() && slowest != null && queuedOfEngines > Bounds.LENT_FREES_MAX) {
            overdue.add(slowest);
        }
        return overdue;
    }

    private int queuedFor(NodeView node) {
        return pending.get(node).queued.size();
    }

    /** Frees what was given up under a lease that has ended. */
    public void tick(long now) {
        nowMs = now;
        while (!quarantine.isEmpty() && quarantine.peek().untilMs <= nowMs) {
            StoredObject object = index.object(quarantine.remove().object);
            if (object != null && object.fate() == StoredObject.Fate.PENDING_FREE) {
                freeWhenDue(object, nowMs);
            }
        }
        freeUnlisted(nowMs);
    }

    /** What cannot be found by its id is looked for among all that was given up. */
    private void freeUnlisted(long nowMs) {
        if (unlisted == null && nowMs >= unlistedAtMs) {
            unlistedAtMs = Long.MAX_VALUE;
            unlisted = index.pendingFree().fromFirst();
        }
        for (int i = 0; i < Bounds.SETTLED_PER_TICK && unlisted != null; i++) {
            StoredObject object = unlisted.next();
            if (object == null) {
                endUnlisted();
            } else if (object.isUnlisted() && !object.isBeingFreed()) {
                freeWhenDue(object, nowMs);
            }
        }
    }

    /** Something that was found by its id is not any more, and given up. */
    public void unlisted(long nowMs) {
        unlistedAtMs = Math.min(unlistedAtMs, nowMs);
    }

    private void endUnlisted() {
        if (unlisted != null) {
            unlisted.end();
            unlisted = null;
        }
    }

    private void enqueueAll(StoredObject object) {
        for (Replica replica : object.replicas()) {
            enqueue(replica, null);
        }
    }

    /** Gives an object up; {@code removal} hears when every extent is free. All its nodes must be usable. */
    public void giveUp(StoredObject object, Cause cause, Removal removal) {
        index.doom(object, cause);
        for (Replica replica : object.replicas()) {
            removal.open++;
            if (!enqueue(replica, removal)) {
                removal.done(false);
            }
        }
        removal.done(true);
    }

    /** Keeps what is left of an object out of sight as it is, whichever node shows or joins with it: its removal may fail. */
    public void hold(StoredObject.Name object) {
        held.add(object);
    }

    public void letGo(StoredObject.Name object) {
        held.remove(object);
    }

    /** Frees one replica of an object that keeps others. */
    public void trim(Replica replica) {
        enqueue(replica, null);
    }

    /** The same of several; {@code removal} hears when they are free, also of those that are being freed already. */
    public void trim(Collection<Replica> replicas, Removal removal) {
        for (Replica replica : replicas) {
            removal.open++;
            if (replica.isFreeing()) {
                Place place = new Place(replica.node(), replica.extent());
                joined.computeIfAbsent(place, it -> new ArrayList<>(1)).add(removal);
            } else if (!enqueue(replica, removal)) {
                removal.done(false);
            }
        }
        removal.done(true);
    }

    /** Frees what an object that keeps other copies has on a node, on whichever medium. */
    public void trimAll(StoredObject object, NodeView node) {
        for (Replica replica : object.replicas()) {
            if (replica.node() == node) {
                enqueue(replica, null);
            }
        }
    }

    /** Frees what an object pending free still has on a node that has just become usable, or has just shown it. */
    public void giveUpRest(Replica replica, long nowMs) {
        StoredObject object = replica.object();
        if (!held.isEmpty() && held.contains(object.name())) {
            return;
        }
        if (object.isLeased(nowMs) || outlivesOlderOnes(object)) {
            freeWhenDue(object, nowMs);
        } else {
            enqueue(replica, null);
        }
    }

    private boolean enqueue(Replica replica, Removal removal) {
        NodeView node = replica.node();
        if (!node.usable() || replica.isFreeing()) {
            return false;
        }
        index.freeing(replica);
        Extent extent = new Extent(replica.extent(), replica.object().id());
        pending.computeIfAbsent(node, it -> new Pending()).queued.add(new Item(extent, removal));
        queuedOfEngines += node.isTransient() ? 1 : 0;
        queued.add(node);
        return true;
    }

    /** Sends what is queued, as far as the bound on requests under way allows. */
    public void send(Authority authority) {
        queued.removeIf(node -> {
            Pending its = pending.get(node);
            while (its != null && !its.queued.isEmpty() && its.sent.size() < Bounds.FREE_REQUESTS_PER_NODE_MAX) {
                sendBatch(node, its, authority);
            }
            return its == null || its.queued.isEmpty();
        });
    }

    private void sendBatch(NodeView node, Pending its, Authority authority) {
        List<Item> batch = new ArrayList<>();
        List<Extent> extents = new ArrayList<>();
        while (!its.queued.isEmpty() && batch.size() < Bounds.FREE_EXTENTS_MAX) {
            Item item = its.queued.remove();
            batch.add(item);
            extents.add(item.extent);
        }
        long requestId = requestIds.getAsLong();
        queuedOfEngines -= node.isTransient() ? batch.size() : 0;
        its.sent.put(requestId, new Sent(batch, nowMs));
        outbox.send(node.session(), new Free(requestId, authority, extents));
    }

    /**
     * The records of what was freed came before this answer, so a replica still known now was not freed. An answer nobody
     * waits for belongs to a term that has ended.
     */
    public void answered(NodeView node, CommandAck ack) {
        Pending its = pending.get(node);
        Sent batch = its == null ? null : its.sent.remove(ack.requestId());
        if (batch != null) {
            batch.items.forEach(item -> finish(node, item, true));
        }
    }

    /** The node cannot be told any more: its connection or our leadership ended. What it had to free is to be taken back. */
    public void abandon(NodeView node) {
        Pending its = pending.remove(node);
        if (its == null) {
            return;
        }
        queuedOfEngines -= node.isTransient() ? its.queued.size() : 0;
        its.sent.values().forEach(batch -> abandoned.add(new Abandoned(node, new ArrayDeque<>(batch.items))));
        if (!its.queued.isEmpty()) {
            abandoned.add(new Abandoned(node, its.queued));
        }
    }

    /** A new term decides everything anew. Who waited for extents has been answered. */
    public void endTerm() {
        quarantine.clear();
        held.clear();
        endUnlisted();
        unlistedAtMs = Long.MAX_VALUE;
        joined.clear();
        abandoned.forEach(part -> part.isWaitedFor = false);
    }

    /**
     * Takes back so many frees that a node could not be told of; until it has, they count as on their way. No node may join, and
     * nothing may be given up under a new term, before all are.
     *
     * @return whether all are
     */
    public boolean goOnTakingBack(int visits) {
        for (int i = 0; i < visits && !abandoned.isEmpty(); i++) {
            Abandoned part = abandoned.peek();
            Item item = part.items.remove();
            if (part.items.isEmpty()) {
                abandoned.remove();
            }
            finish(part.node, item, part.isWaitedFor);
        }
        return abandoned.isEmpty();
    }

    private void finish(NodeView node, Item item, boolean isWaitedFor) {
        Replica left = index.replica(node, item.extent.extent());
        if (left != null) {
            index.noLongerFreeing(left);
        }
        if (item.removal != null && isWaitedFor) {
            item.removal.done(left == null);
        }
        List<Removal> others = joined.isEmpty() ? null : joined.remove(new Place(node, item.extent.extent()));
        if (others != null) {
            others.forEach(removal -> removal.done(left == null));
        }
    }
}
