// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * The view of what the nodes hold: objects by id from every node's stream, and by key those the leader has published. The
 * nodes own the truth; nothing here outlives the process.
 */
final class Index {
    private final Map<ObjectId, StoredObject> objects = new HashMap<>();
    private final Map<Key, StoredObject> published = new HashMap<>();
    private final Recency recency = new Recency();
    private final Remains remains = new Remains();
    private long leasedUntilMs = Long.MIN_VALUE;
    private long unavailable;
    private long shortOfCopies;
    private long overReplicated;

    /** Published objects below it are out of sight; they are forgotten little by little. */
    private ObjectId purgeId = ObjectId.NONE;

    private int purged;

    /** The published object of a key, or null. */
    StoredObject published(Key key) {
        StoredObject object = published.get(key);
        return object == null || isPurged(object) ? null : object;
    }

    /** The object with this id, whatever its fate, or null. */
    StoredObject object(ObjectId id) {
        return objects.get(id);
    }

    /** Published objects, least recently leased first. */
    Recency recency() {
        return recency;
    }

    /** Doomed objects that nodes have not freed yet. */
    Remains remains() {
        return remains;
    }

    /** Every object, whatever its fate, in no order. */
    Iterable<StoredObject> all() {
        return objects.values();
    }

    /** Every replica a node holds, in no order. */
    Iterable<Replica> replicasOn(NodeView node) {
        return node.replicas.all();
    }

    /** The replica in exactly this extent of a node, or null. */
    Replica replica(NodeView node, ExtentRef extent) {
        Replica present = node.replicas.at(extent);
        return present != null && present.extent().equals(extent) ? present : null;
    }

    /** Promises readers that an object stays where it is until then. */
    void lease(StoredObject object, long untilMs) {
        object.lease(untilMs);
        leasedUntilMs = Math.max(leasedUntilMs, untilMs);
    }

    /** Whether a lease of any object may be running. */
    boolean isAnythingLeased(long nowMs) {
        return leasedUntilMs > nowMs;
    }

    /** Keys of published objects in no order, at most {@code limit} of them. */
    List<Key> publishedKeys(int limit) {
        return published.keySet().stream().limit(limit).toList();
    }

    int size() {
        return objects.size();
    }

    int publishedCount() {
        return published.size() - purged;
    }

    /** Published objects with no replica on a usable node. */
    long unavailableCount() {
        return unavailable;
    }

    /** Published objects with fewer replicas on usable nodes than they should have, those with none included. */
    long shortOfCopies() {
        return shortOfCopies;
    }

    /** Published objects with more replicas on usable nodes than they should have. */
    long overReplicated() {
        return overReplicated;
    }

    /**
     * A node says that an extent holds an object. Within one snapshot and its changes the highest generation of a slot is
     * the truth, whatever order they come in. What was known before that snapshot gives way to it: the node may have lost
     * its memory, and then its generations began anew.
     *
     * @return the object, or null when the line was out of date or already known
     */
    StoredObject commit(NodeView node, DirectoryRecord line) {
        Replica present = node.replicas.at(line.extent());
        if (present != null) {
            boolean confirmed = present.isConfirmed();
            if (confirmed
                    && Long.compareUnsigned(
                                    present.extent().generation(), line.extent().generation())
                            >= 0) {
                return null;
            }
            if (!confirmed && present.is(line)) {
                present.confirm();
                return null;
            }
            remove(present);
        }
        StoredObject object = objectOf(line);
        Replica replica = new Replica(object, node, line);
        object.add(replica);
        node.replicas.add(replica);
        if (node.usable) {
            usableReplicas(object, +1);
        }
        return object;
    }

    /**
     * A second replica that disagrees about key, length or checksum is not a replica of that object (its writer changed the
     * buffer during the put): it gets an entry of its own that nobody finds, and is freed.
     */
    private StoredObject objectOf(DirectoryRecord line) {
        StoredObject known = objects.get(line.objectId());
        if (known != null && known.agreesWith(line)) {
            return known;
        }
        StoredObject told = new StoredObject(line);
        if (known == null) {
            objects.put(told.id(), told);
        } else {
            told.fate(StoredObject.Fate.DOOMED);
            remains.add(told.key(), told.id());
        }
        return told;
    }

    /** Whether this slot is known, from the same snapshot, to hold an object of a higher generation. */
    boolean outdates(NodeView node, ExtentRef extent) {
        Replica present = node.replicas.at(extent);
        return present != null
                && present.isConfirmed()
                && Long.compareUnsigned(present.extent().generation(), extent.generation()) > 0;
    }

    /** A node says that it freed an extent. */
    void freed(NodeView node, ExtentRef extent) {
        Replica present = node.replicas.at(extent);
        if (present != null && Long.compareUnsigned(present.extent().generation(), extent.generation()) <= 0) {
            remove(present);
        }
    }

    /** Forgets what the node's latest snapshot did not hold. */
    void dropUnconfirmed(NodeView node) {
        for (Replica replica : copyOf(node.replicas.all())) {
            if (!replica.isConfirmed()) {
                remove(replica);
            }
        }
    }

    void dropAll(NodeView node) {
        for (Replica replica : copyOf(node.replicas.all())) {
            remove(replica);
        }
    }

    /** Whether readers may be sent to a node and writers' grants may name it. */
    void setUsable(NodeView node, boolean usable) {
        if (node.usable == usable) {
            return;
        }
        node.usable = usable;
        for (Replica replica : node.replicas.all()) {
            usableReplicas(replica.object(), usable ? +1 : -1);
        }
    }

    /** The node was, or is about to be, told to free a replica: its bytes count as gone for eviction and placement. */
    void freeing(Replica replica) {
        replica.node().replicas.freeing(replica);
    }

    /** The node has not freed the replica, or cannot be asked any more. */
    void noLongerFreeing(Replica replica) {
        replica.node().replicas.noLongerFreeing(replica);
    }

    /** Makes an object readable under its key, which must have no published object, and says how many copies it should have. */
    void publish(StoredObject object, int wanted) {
        StoredObject before = published.get(object.key());
        if (before != null && isPurged(before)) {
            doom(before);
            before = null;
        }
        published.put(object.key(), object);
        if (before != null || object.fate() == StoredObject.Fate.PUBLISHED) {
            throw new IllegalStateException("key of " + object.id() + " is already published");
        }
        if (object.fate() == StoredObject.Fate.DOOMED) {
            remains.remove(object.key(), object.id());
        }
        object.fate(StoredObject.Fate.PUBLISHED);
        object.wanted(Math.clamp(wanted, 1, Bounds.REPLICAS_MAX));
        recency.append(object);
        count(object, +1);
    }

    void doom(StoredObject object) {
        unpublish(object);
        if (object.fate() != StoredObject.Fate.DOOMED) {
            object.fate(StoredObject.Fate.DOOMED);
            remains.add(object.key(), object.id());
        }
    }

    /** Takes every published object out of sight at once; all of them must be older than {@code id}. */
    void purge(ObjectId id) {
        purgeId = id;
        purged = published.size();
    }

    /** Dooms objects that are out of sight by a purge, at most {@code limit} of them; their nodes free them unasked. */
    void forgetPurged(int limit) {
        // What is published or used after a purge goes behind what was there before.
        Iterator<StoredObject> coldestFirst = recency.iterator();
        for (int i = 0; i < limit && purged > 0 && coldestFirst.hasNext(); i++) {
            StoredObject object = coldestFirst.next();
            if (isPurged(object)) {
                doom(object);
            }
        }
    }

    private boolean isPurged(StoredObject object) {
        return purged > 0 && purgeId.isNewerThan(object.id());
    }

    /** A new leadership decides everything anew. */
    void forgetFates() {
        purged = 0;
        remains.clear();
        published.clear();
        recency.clear();
        unavailable = 0;
        shortOfCopies = 0;
        overReplicated = 0;
        for (StoredObject object : objects.values()) {
            object.fate(StoredObject.Fate.UNSETTLED);
        }
    }

    private void unpublish(StoredObject object) {
        if (object.fate() != StoredObject.Fate.PUBLISHED) {
            return;
        }
        published.remove(object.key(), object);
        purged -= isPurged(object) ? 1 : 0;
        recency.remove(object);
        count(object, -1);
        object.fate(StoredObject.Fate.UNSETTLED);
    }

    private void remove(Replica replica) {
        NodeView node = replica.node();
        StoredObject object = replica.object();
        node.replicas.remove(replica);
        if (node.usable) {
            usableReplicas(object, -1);
        }
        object.remove(replica);
        if (object.replicaCount() == 0) {
            unpublish(object);
            objects.remove(object.id(), object);
            if (object.fate() == StoredObject.Fate.DOOMED) {
                remains.remove(object.key(), object.id());
            }
        }
    }

    private static List<Replica> copyOf(Iterable<Replica> replicas) {
        List<Replica> copy = new ArrayList<>();
        replicas.forEach(copy::add);
        return copy;
    }

    private void usableReplicas(StoredObject object, int change) {
        boolean counts = object.fate() == StoredObject.Fate.PUBLISHED;
        count(object, counts ? -1 : 0);
        object.countUsable(change);
        count(object, counts ? +1 : 0);
    }

    /** Counts a published object in or out. */
    private void count(StoredObject object, int change) {
        unavailable += object.isAvailable() ? 0 : change;
        shortOfCopies += object.usableReplicas() < object.wanted() ? change : 0;
        overReplicated += object.usableReplicas() > object.wanted() ? change : 0;
    }
}
