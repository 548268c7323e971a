// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.ArrayList;
import java.util.HashMap;
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
    private long unavailable;

    /** The published object of a key, or null. */
    StoredObject published(Key key) {
        return published.get(key);
    }

    /** The object with this id, whatever its fate, or null. */
    StoredObject object(ObjectId id) {
        return objects.get(id);
    }

    /** Published objects, least recently leased first. */
    Recency recency() {
        return recency;
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

    /** Keys of published objects in no order, at most {@code limit} of them. */
    List<Key> publishedKeys(int limit) {
        return published.keySet().stream().limit(limit).toList();
    }

    int size() {
        return objects.size();
    }

    int publishedCount() {
        return published.size();
    }

    /** Published objects with no replica on a usable node. */
    long unavailableCount() {
        return unavailable;
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
        }
        return told;
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

    /** Makes an object readable under its key, which must have no published object. */
    void publish(StoredObject object) {
        StoredObject before = published.put(object.key(), object);
        if (before != null || object.fate() == StoredObject.Fate.PUBLISHED) {
            throw new IllegalStateException("key of " + object.id() + " is already published");
        }
        object.fate(StoredObject.Fate.PUBLISHED);
        recency.append(object);
        if (!object.isAvailable()) {
            unavailable++;
        }
    }

    void doom(StoredObject object) {
        unpublish(object);
        object.fate(StoredObject.Fate.DOOMED);
    }

    /** A new leadership decides everything anew. */
    void forgetFates() {
        published.clear();
        recency.clear();
        unavailable = 0;
        for (StoredObject object : objects.values()) {
            object.fate(StoredObject.Fate.UNSETTLED);
        }
    }

    private void unpublish(StoredObject object) {
        if (object.fate() != StoredObject.Fate.PUBLISHED) {
            return;
        }
        published.remove(object.key());
        recency.remove(object);
        if (!object.isAvailable()) {
            unavailable--;
        }
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
        }
    }

    private static List<Replica> copyOf(Iterable<Replica> replicas) {
        List<Replica> copy = new ArrayList<>();
        replicas.forEach(copy::add);
        return copy;
    }

    private void usableReplicas(StoredObject object, int change) {
        boolean before = object.isAvailable();
        object.countUsable(change);
        if (object.fate() == StoredObject.Fate.PUBLISHED && before != object.isAvailable()) {
            unavailable += before ? 1 : -1;
        }
    }
}
