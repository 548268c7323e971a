// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.StoredObject.Fate;
import dev.kvpool.dataplane.master.core.slab.KeyHash;
import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.master.core.slab.SplitTable;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The view of what the nodes hold: objects by id from every node's stream, and by key those the leader has published. The
 * nodes own the truth; nothing here outlives the process. Objects lie in {@link Slabs}, not in Java objects of their own:
 * about 160 bytes each with a key of 64 bytes, and nothing for the collector to follow.
 */
final class Index {
    private final Slabs slabs = new Slabs();
    private final ObjectRecords objects;
    private final ReplicaRecords replicas;
    private final ObjectTables tables;
    private final Views views;
    private final Published published;
    private final Fates fates;
    private long leasedUntilMs = Long.MIN_VALUE;

    /** @param random for the secret of the hash of keys, so that nobody can choose keys that make a table slow */
    Index(RandomGenerator random) {
        KeyHash keyHash = new KeyHash(random.nextLong(), random.nextLong());
        objects = new ObjectRecords(slabs, keyHash);
        replicas = new ReplicaRecords(slabs, objects);
        tables = new ObjectTables(slabs, objects, keyHash);
        views = new Views(objects, replicas);
        published = new Published(views, tables.byKey);
        fates = new Fates(views, published);
    }

    // ---- looking --------------------------------------------------------------------------------------------------

    /** The published object of a key, or null. */
    StoredObject published(Key key) {
        return views.object(published.find(key));
    }

    /** The published object under the key of another one, or null. */
    StoredObject publishedUnderKeyOf(StoredObject object) {
        return views.object(published.findUnderKeyOf(object.at()));
    }

    /** The object with this id, whatever its fate, or null. */
    StoredObject object(ObjectId id) {
        return views.object(tables.byId.find(id));
    }

    /** Published objects, least recently leased first. */
    Recency recency() {
        return published.recency();
    }

    /** Doomed objects that nodes have not freed yet. */
    Remains remains() {
        return fates.remains();
    }

    /** Every object, whatever its fate, in no order; none may come or go meanwhile. */
    Iterable<StoredObject> all() {
        return () -> views.objects(tables.byId.walk());
    }

    /** Every replica a node holds, in no order; none may come or go meanwhile. */
    Iterable<Replica> replicasOn(NodeView node) {
        return () -> views.replicas(node.replicas.walk());
    }

    /** The replica in exactly this extent of a node, or null. */
    Replica replica(NodeView node, ExtentRef extent) {
        int present = node.replicas.at(extent);
        boolean same = present != Slabs.NONE && replicas.generation(present) == extent.generation();
        return same ? views.replica(present) : null;
    }

    /** Promises readers that an object stays where it is until then. */
    void lease(StoredObject object, long untilMs) {
        if (untilMs > object.leaseUntilMs()) {
            objects.setLeaseUntilMs(object.at(), untilMs);
        }
        leasedUntilMs = Math.max(leasedUntilMs, untilMs);
    }

    /** Whether a lease of any object may be running. */
    boolean isAnythingLeased(long nowMs) {
        return leasedUntilMs > nowMs;
    }

    /** Keys of published objects in no order, at most {@code limit} of them. */
    List<Key> publishedKeys(int limit) {
        return published.keys(limit);
    }

    int size() {
        return tables.byId.size();
    }

    int publishedCount() {
        return published.count();
    }

    /** Published objects with no replica on a usable node. */
    long unavailableCount() {
        return published.unavailable();
    }

    /** Published objects with fewer replicas on usable nodes than they should have, those with none included. */
    long shortOfCopies() {
        return published.shortOfCopies();
    }

    /** Published objects with more replicas on usable nodes than they should have. */
    long overReplicated() {
        return published.overReplicated();
    }

    /** Memory that records and the tables of objects take; those of each node are {@link NodeReplicas#tableBytes}. */
    long bytes() {
        return slabs.bytes() + tables.byId.bytes() + tables.byKey.bytes();
    }

    // ---- what nodes say -------------------------------------------------------------------------------------------

    /** Whether every field of a line fits; a node whose lines do not is no node of this protocol. */
    static boolean canHold(DirectoryRecord line) {
        return ObjectRecords.canHold(line) && ReplicaRecords.canHold(line);
    }

    /** A node begins to send its directory: what it does not name until the end of it is gone. */
    void beginSnapshot(NodeView node) {
        node.snapshot++;
        node.replicas.beginSnapshot();
    }

    /**
     * A node says that an extent holds an object. Within one snapshot and its changes the highest generation of a slot is
     * the truth, whatever order they come in. What was known before that snapshot gives way to it: the node may have lost
     * its memory, and then its generations began anew.
     *
     * @param line one that {@link #canHold} holds of
     * @return the object, or null when the line was out of date or already known
     */
    StoredObject commit(NodeView node, DirectoryRecord line) {
        int present = node.replicas.at(line.extent());
        if (present != Slabs.NONE) {
            boolean confirmed = node.replicas.isConfirmed(present);
            if (confirmed
                    && Long.compareUnsigned(
                                    replicas.generation(present), line.extent().generation())
                            >= 0) {
                return null;
            }
            if (!confirmed && replicas.is(present, line)) {
                node.replicas.confirm(present);
                return null;
            }
            remove(present);
        }
        node.replicas.open(slabs, replicas);
        int object = objectOf(line);
        int before = replicas.usable(object);
        node.replicas.add(replicas.create(object, node, line));
        fates.usable(object, before, before + (node.usable ? 1 : 0));
        return views.object(object);
    }

    /**
     * A second replica that disagrees about key, length or checksum is not a replica of that object (its writer changed the
     * buffer during the put): it gets an entry of its own that nobody finds, and is freed.
     */
    private int objectOf(DirectoryRecord line) {
        int known = tables.byId.find(line.objectId());
        if (known != Slabs.NONE && objects.agrees(known, line)) {
            return known;
        }
        int told = objects.create(line);
        if (known == Slabs.NONE) {
            tables.byId.add(told);
        } else {
            objects.setUnlisted(told);
            objects.setFate(told, Fate.DOOMED);
            fates.remains().add(line.key(), line.objectId());
        }
        return told;
    }

    /** Whether this slot is known, from the same snapshot, to hold an object of a higher generation. */
    boolean outdates(NodeView node, ExtentRef extent) {
        int present = node.replicas.at(extent);
        return present != Slabs.NONE
                && node.replicas.isConfirmed(present)
                && Long.compareUnsigned(replicas.generation(present), extent.generation()) > 0;
    }

    /** A node says that it freed an extent. */
    void freed(NodeView node, ExtentRef extent) {
        int present = node.replicas.at(extent);
        if (present != Slabs.NONE && Long.compareUnsigned(replicas.generation(present), extent.generation()) <= 0) {
            remove(present);
        }
    }

    /**
     * Forgets what the node's latest snapshot did not hold.
     *
     * @return how many of those were replicas of published objects: what the node has lost, and was not told to free
     */
    long dropUnconfirmed(NodeView node) {
        long lost = 0;
        for (int replica : node.replicas.copy()) {
            if (!node.replicas.isConfirmed(replica)) {
                lost += objects.fate(replicas.owner(replica)) == Fate.PUBLISHED ? 1 : 0;
                remove(replica);
            }
        }
        return lost;
    }

    void dropAll(NodeView node) {
        for (int replica : node.replicas.copy()) {
            remove(replica);
        }
        replicas.nodes().release(node);
    }

    private void remove(int replica) {
        NodeView node = replicas.node(replica);
        int object = replicas.owner(replica);
        int before = replicas.usable(object);
        node.replicas.remove(replica);
        replicas.destroy(replica);
        fates.usable(object, before, before - (node.usable ? 1 : 0));
        if (replicas.firstOf(object) == Slabs.NONE) {
            forget(object);
        }
    }

    private void forget(int object) {
        fates.forget(object);
        if (!objects.isUnlisted(object)) {
            tables.byId.remove(object);
        }
        objects.destroy(object);
    }

    // ---- what the leader decides ----------------------------------------------------------------------------------

    /** Whether readers may be sent to a node and writers' grants may name it. */
    void setUsable(NodeView node, boolean usable) {
        if (node.usable == usable) {
            return;
        }
        node.usable = false;
        SplitTable.Walk walk = node.replicas.walk();
        for (int replica = walk.next(); replica != Slabs.NONE; replica = walk.next()) {
            int object = replicas.owner(replica);
            if (replicas.isFirstOnItsNode(replica)) {
                int without = replicas.usable(object);
                int with = without + replicas.countOn(object, node);
                fates.usable(object, usable ? without : with, usable ? with : without);
            }
        }
        node.usable = usable;
    }

    /** The node was, or is about to be, told to free a replica: its bytes count as gone for eviction and placement. */
    void freeing(Replica replica) {
        replica.node().replicas.freeing(replica.at());
    }

    /** The node has not freed the replica, or cannot be asked any more. */
    void noLongerFreeing(Replica replica) {
        replica.node().replicas.noLongerFreeing(replica.at());
    }

    /** Makes an object readable under its key, which must have no published object; {@code wanted} copies it should have. */
    void publish(StoredObject object, int wanted) {
        fates.publish(object.at(), wanted);
    }

    /** Takes an object out of sight without deciding about it. */
    void unsettle(StoredObject object) {
        fates.unpublish(object.at());
    }

    /** Takes an object out of sight for good. */
    void doom(StoredObject object) {
        fates.doom(object.at());
    }

    /** Takes every published object out of sight at once; all of them must be older than {@code id}. */
    void purge(ObjectId id) {
        published.purge(id);
    }

    /** Dooms objects that are out of sight by a purge, at most {@code limit} of them; their nodes free them unasked. */
    void forgetPurged(int limit) {
        fates.forgetPurged(limit);
    }

    /** A new leadership decides everything anew. */
    void forgetFates() {
        fates.forgetAll(tables.byId.walk());
    }
}
