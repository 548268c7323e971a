// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.reconciliation;

import dev.kvpool.dataplane.master.core.base.Change.Cause;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.command.Frees;
import dev.kvpool.dataplane.master.core.command.Grant;
import dev.kvpool.dataplane.master.core.command.Grants;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.command.Purges;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.index.Tombstones;
import dev.kvpool.dataplane.master.core.membership.Groups;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;

/**
 * Decides what becomes of objects that nodes show and nobody has published under this epoch. What was committed before
 * the fence counts as published, and for one key the highest id wins. What this epoch granted waits for its publish, and
 * is a left-over once its grant has ended. A standby already lets the newest object of each key have it, so that a takeover
 * has to decide only about those that lost, were removed, or were being put.
 */
public final class Reconciliation {
    private final CurrentRules rules;
    private final Index index;
    private final Groups groups;
    private final Grants grants;
    private final Frees frees;
    private final Leadership leadership;
    private final Tombstones tombstones;
    private final Purges purges;
    private final Counters counters;

    /** There is an object about which nothing could be decided when it was looked at last. */
    private boolean waiting;

    /** Until when the leaders before this one may have promised objects to readers. */
    private long leasedUntilMs = Long.MIN_VALUE;

    public Reconciliation(
            CurrentRules rules, Leadership leadership, View view, Orders orders, Grants grants, Counters counters) {
        this.rules = rules;
        this.index = view.index();
        this.groups = view.groups();
        this.grants = grants;
        this.frees = orders.frees();
        this.leadership = leadership;
        this.tombstones = view.tombstones();
        this.purges = orders.purges();
        this.counters = counters;
    }

    public void recoveredUntil(long untilMs) {
        leasedUntilMs = untilMs;
        index.leaseRecovered(leadership.authority().epoch(), untilMs);
    }

    /** Until when readers may rely on what they were told before this leader served; the distant past when it has not. */
    public long recoveredUntilMs() {
        return leasedUntilMs;
    }

    /**
     * A node shows an object that it did not show before, and nothing can be decided about it yet: this master does not serve,
     * or does not rely on that node. It has its key unless a newer one does, or did.
     */
    public void claim(StoredObject object, long nowMs) {
        if (object.fate() != StoredObject.Fate.UNSETTLED) {
            return;
        }
        boolean serving = leadership.phase() == Leadership.Phase.SERVING;
        StoredObject newer = serving ? newer(object) : null;
        if (newer != null && newer.isAvailable()) {
            // Were nothing decided, it would have the key again when the newer one is evicted or removed.
            frees.giveUp(object, Cause.REPLACED, nowMs);
            counters.add(Count.SUPERSEDED);
            return;
        }
        StoredObject holder = index.publishedUnderKeyOf(object);
        if (serving ? newer != null || isDisputed(object, holder) : hasLost(object, holder)) {
            waiting |= !serving;
            return;
        }
        if (holder != null) {
            index.unsettle(holder);
        }
        publishFound(object);
    }

    /**
     * A newer one of its key that readers find, or found until it was given up: it may be on its way out still, and published again
     * if its removal fails. Null when there is none.
     */
    private StoredObject newer(StoredObject object) {
        StoredObject holder = index.publishedUnderKeyOf(object);
        if (holder != null && holder.id().isNewerThan(object.id())) {
            return holder;
        }
        if (index.remains().isEmpty()) {
            return null;
        }
        Key key = object.key();
        for (ObjectId id : index.remains().of(key)) {
            StoredObject other = id.isNewerThan(object.id()) ? index.object(id, key) : null;
            if (other != null && other.isWithdrawn()) {
                return other;
            }
        }
        return null;
    }

    /** A leader decides about it when its node has joined, which not every transient one will. */
    private boolean isDisputed(StoredObject object, StoredObject holder) {
        return holder != null || !isOlderThanThisTerm(object) || isDead(object) || isLikelyLost(object);
    }

    /** Tombstones are looked at when the takeover is decided: what they cover has nothing older of its key beside it. */
    private boolean hasLost(StoredObject object, StoredObject holder) {
        return purges.isPurged(object) || (holder != null && holder.id().isNewerThan(object.id()));
    }

    /** Whether there may be something to decide that there was not when all was looked at last. */
    boolean isWaiting() {
        return waiting;
    }

    /** All that is unsettled is about to be looked at. */
    void lookingAtAll() {
        waiting = false;
    }

    /** A tombstone has come into view that the published object of its key may not have outlived. */
    public void settle(Tombstones.OfKey tombstone, long nowMs) {
        StoredObject object = index.published(tombstone.key);
        if (object != null && isDead(object)) {
            giveUp(object, nowMs);
        }
    }

    /** A purge has come into view that the published object may not have outlived. */
    void settlePublished(StoredObject object, long nowMs) {
        if (!isDead(object)) {
            return;
        }
        if (leadership.phase() == Leadership.Phase.SERVING) {
            giveUp(object, nowMs);
        } else {
            index.unsettle(object);
            waiting = true;
        }
    }

    /** A removal that was written down, or a purge, covers the object. */
    private boolean isDead(StoredObject object) {
        return purges.isPurged(object) || (tombstones.size() > 0 && tombstones.isDead(object.key(), object.id()));
    }

    private void giveUp(StoredObject object, long nowMs) {
        frees.giveUp(object, Cause.REMOVED, nowMs);
        counters.add(Count.DEAD);
    }

    /** Frees what a given up object still has on nodes that could not be told before. */
    void giveUpRest(StoredObject object, long nowMs) {
        for (Replica replica : object.replicas()) {
            if (replica.node().usable() && !replica.isFreeing()) {
                frees.giveUpRest(replica, nowMs);
            }
        }
    }

    /** Frees what a node has only now shown of an object that was given up before. */
    public void giveUpIfPendingFree(StoredObject object, NodeView node, long nowMs) {
        for (Replica replica : object.replicas()) {
            if (replica.node() == node && object.fate() == StoredObject.Fate.PENDING_FREE) {
                frees.giveUpRest(replica, nowMs);
            }
        }
    }

    /** As {@link #settle(StoredObject, long)}, of a leader that serves: what only nodes have that it does not rely on waits. */
    void settleWhileServing(StoredObject object, long nowMs) {
        if (copiesInView(object) == 0) {
            claim(object, nowMs);
        } else {
            settle(object, nowMs);
        }
    }

    void settle(StoredObject object, long nowMs) {
        if (object.fate() != StoredObject.Fate.UNSETTLED) {
            return;
        }
        int age =
                Long.compareUnsigned(object.id().epoch(), leadership.authority().epoch());
        if (age > 0) {
            // Of a leader after us: we are deposed and about to hear of it.
            return;
        }
        if (age == 0) {
            settleOwn(object, nowMs);
        } else {
            settleRecovered(object, nowMs);
        }
    }

    /**
     * Decides about an object that a node which obeys us has only now committed. If it is not of this epoch, it is a copy
     * that we have asked for, and if nobody else has the object any more, it was removed, evicted or superseded meanwhile.
     */
    public void settleLate(StoredObject object, long nowMs) {
        boolean lostCopy = object.fate() == StoredObject.Fate.UNSETTLED
                && isOlderThanThisTerm(object)
                && object.replicaCount() == 1;
        if (lostCopy) {
            frees.giveUp(object, Cause.REPLACED, nowMs);
            counters.add(Count.COPIES_LOST);
        } else {
            settle(object, nowMs);
        }
    }

    private void settleOwn(StoredObject object, long nowMs) {
        Grant grant = grants.byId(object.id());
        if (grant == null || !object.hasKey(grant.key)) {
            frees.giveUp(object, Cause.REPLACED, nowMs);
            counters.add(Count.LEFT_OVERS);
        }
    }

    private void settleRecovered(StoredObject object, long nowMs) {
        if (isDead(object)) {
            giveUp(object, nowMs);
            return;
        }
        StoredObject newer = newer(object);
        if (newer != null) {
            supersede(object, newer, nowMs);
            return;
        }
        supersedeHolder(object, nowMs);
        publishFound(object);
    }

    private void supersedeHolder(StoredObject newer, long nowMs) {
        StoredObject holder = index.publishedUnderKeyOf(newer);
        if (holder != null) {
            supersede(holder, newer, nowMs);
        }
    }

    /**
     * Readers find an object again that could not be removed. If a newer one has its key meanwhile, or another removal was written
     * down, it is freed. One that was forgotten meanwhile, and shown again, is decided about already.
     */
    public void takeBack(StoredObject object, long nowMs) {
        if (object.fate() != StoredObject.Fate.PENDING_FREE) {
            return;
        }
        if (isDead(object) || newer(object) != null) {
            frees.giveUp(object, Cause.REMOVED, nowMs);
            return;
        }
        supersedeHolder(object, nowMs);
        index.publishFound(object, object.wanted());
        groups.joined(object); // whose list may have been rid of it while it was out of sight
    }

    private static int copiesInView(StoredObject object) {
        int copies = 0;
        for (Replica replica : object.replicas()) {
            copies += isRelied(replica.node()) && !replica.isSecond() ? 1 : 0;
        }
        return copies;
    }

    private static boolean isRelied(NodeView node) {
        return node.usable() || node.joining();
    }

    private boolean isOlderThanThisTerm(StoredObject object) {
        return Long.compareUnsigned(object.id().epoch(), leadership.authority().epoch()) < 0;
    }

    /**
     * While the newer one lies on nodes away alone, the older one is kept, out of sight: a leader before this one may have had the newer
     * one freed there, as the left-over of a put that was never published, and this master has not heard of it.
     */
    private void supersede(StoredObject older, StoredObject newer, long nowMs) {
        if (copiesInView(newer) == 0) {
            index.outdo(older);
            waiting = true;
            return;
        }
        frees.giveUp(older, Cause.REPLACED, nowMs);
        counters.add(Count.SUPERSEDED);
    }

    /** The memory of a transient node goes with its process, and whether its connection alone is gone shows soon. */
    private static boolean isLikelyLost(StoredObject object) {
        for (Replica replica : object.replicas()) {
            if (isRelied(replica.node()) || !replica.node().isTransient()) {
                return false;
            }
        }
        return true;
    }

    /** Publishes what this epoch granted. The grant must be the newest of its key, so nothing newer can be there. */
    public void publishGranted(StoredObject object, Grant grant, long nowMs) {
        StoredObject before = index.publishedUnderKeyOf(object);
        if (before != null && grant.replaces) {
            // Its readers' descriptors fail by the generation and they ask again; what is being sent, the node keeps.
            frees.giveUp(before, Cause.REPLACED, new Frees.Removal(freed -> {}));
            counters.add(Count.REPLACED);
        } else if (before != null) {
            frees.giveUp(before, Cause.REPLACED, nowMs);
            counters.add(Count.SUPERSEDED);
        }
        // A lease of no length: its end is when the object was used last.
        index.lease(object, nowMs);
        publish(object, grant.wanted);
    }

    private void publish(StoredObject object, int wanted) {
        index.publish(object, wanted);
        groups.joined(object);
    }

    /** What its put asked for is not written down; copies that are there were wanted. */
    private void publishFound(StoredObject object) {
        index.publishFound(object, Math.max(rules.replicas(), copiesInView(object)));
        groups.joined(object);
    }

    /** Whether what the leaders before this one promised may still be relied on, and so nothing recovered can be evicted. */
    public boolean isRecovering(long nowMs) {
        return nowMs < leasedUntilMs;
    }

    /** Gives up what a grant that ended without a publish has left behind, if anything has arrived yet. */
    public void giveUpLeftOver(ObjectId id, Key key, long nowMs) {
        StoredObject object = index.object(id, key);
        if (object != null && object.fate() == StoredObject.Fate.UNSETTLED) {
            frees.giveUp(object, Cause.REPLACED, nowMs);
            counters.add(Count.LEFT_OVERS);
        }
    }
}
