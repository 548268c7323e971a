// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.index.StoredObject.Fate;
import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;

/** Follows what the directories of the nodes say: which objects there are, and in which extents. */
final class Directories {
    private static final int SEARCHED_AT_ONCE = 256;

    private final Slabs slabs;
    private final ObjectRecords objects;
    private final ReplicaRecords replicas;
    private final ObjectTables.ById byId;
    private final Fates fates;
    private final ComingCopies coming = new ComingCopies();
    private Runnable displaced = () -> {};
    private long highestEpoch;

    Directories(Slabs slabs, Views views, ObjectTables.ById byId, Fates fates) {
        this.slabs = slabs;
        this.objects = views.objects();
        this.replicas = views.replicas();
        this.byId = byId;
        this.fates = fates;
    }

    /** The highest epoch that any object was ever of. */
    long highestEpoch() {
        return highestEpoch;
    }

    /**
     * Whether there is room for what a line says.
     *
     * @param takesMore false when only what needs no more room than is in use already may come
     */
    boolean hasRoomFor(NodeView node, DirectoryRecord line, boolean takesMore) {
        int present = node.replicas.at(line.extent());
        if (present != Slabs.NONE && (isOutOfDate(node, present, line) || replicas.is(present, line))) {
            return true;
        }
        int known = byId.find(line.objectId(), line.key());
        boolean further = known != Slabs.NONE && objects.agrees(known, line);
        return takesMore && slabs.hasRoom(further ? ReplicaRecords.FURTHER_BYTES : ObjectRecords.bytesOf(line));
    }

    private boolean isOutOfDate(NodeView node, int present, DirectoryRecord line) {
        return node.replicas.isConfirmed(present)
                && Long.compareUnsigned(
                                replicas.generation(present), line.extent().generation())
                        >= 0;
    }

    /**
     * A node says that an extent holds an object. Within one snapshot and its changes the highest generation of a slot is
     * the truth, whatever order they come in. What was known before that snapshot gives way to it: the node may have lost
     * its memory, and then its generations began anew.
     *
     * @param line one that {@link Index#canHold} and {@link #hasRoomFor} hold of
     * @return the object, or {@link Slabs#NONE} when the line was out of date or already known
     */
    int commit(NodeView node, DirectoryRecord line) {
        int present = node.replicas.at(line.extent());
        if (present != Slabs.NONE) {
            if (isOutOfDate(node, present, line)) {
                return Slabs.NONE;
            }
            if (!node.replicas.isConfirmed(present) && replicas.is(present, line)) {
                node.replicas.confirm(present);
                return Slabs.NONE;
            }
            remove(present);
        }
        node.replicas.open(slabs, replicas);
        highestEpoch = Math.max(highestEpoch, line.objectId().epoch());
        int object = objectOf(node, line);
        int replica = replicas.create(object, node, line);
        node.replicas.add(replica);
        node.recordBytes += objects.bytesOf(object);
        objects.takes(object, replicas.extentBytes(replica));
        fates.copied(object, replica);
        return object;
    }

    /**
     * A second replica that disagrees about key, length or checksum is not a replica of that object (its writer changed the
     * buffer during the put): it gets an entry of its own that is not found by its id, and is freed. What a storage node says comes before
     * what engines of that tenant say, whichever came first, but not once readers have been told of it.
     */
    private int objectOf(NodeView node, DirectoryRecord line) {
        int known = byId.find(line.objectId(), line.key());
        if (known != Slabs.NONE && objects.agrees(known, line)) {
            return known;
        }
        if (known != Slabs.NONE && !node.isTransient() && isOfEngines(known) && !fates.isRead(known)) {
            byId.remove(known);
            fates.displaced(known);
            displaced.run();
            known = Slabs.NONE;
        }
        int told = objects.create(line);
        if (known == Slabs.NONE) {
            byId.add(told);
            fates.created(told);
        } else {
            fates.contradicts(told, line);
        }
        return told;
    }

    void whenDisplaced(Runnable heard) {
        displaced = heard;
    }

    /** Whether none but engines show an object. */
    private boolean isOfEngines(int object) {
        int replica = replicas.firstOf(object);
        boolean isAny = replica != Slabs.NONE;
        while (replica != Slabs.NONE && replicas.node(replica).isTransient()) {
            replica = replicas.nextOf(replica);
        }
        return isAny && replica == Slabs.NONE;
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
            node.room.hasPlaceFor(replicas.extentBytes(present));
            remove(present);
        }
    }

    /** See {@link Index#copying}. */
    void copying(int object, NodeView target) {
        coming.begin(object, target);
    }

    /** See {@link Index#copied}. */
    void copied(int object, NodeView target) {
        coming.end(object, target);
        forgetIfNowhere(object);
    }

    /** Whatever copies a node has made are in view, or nobody waits for them any more. */
    private void copied(NodeView target) {
        for (int object : coming.to(target)) {
            copied(object, target);
        }
        coming.forget(target);
    }

    /** See {@link Index#forgetCopies}. */
    void forgetCopies() {
        coming.targets().forEach(this::copied);
    }

    /** See {@link Index#dropUnconfirmed}. */
    long dropUnconfirmed(NodeView node, int visits) {
        copied(node);
        long lost = 0;
        int left = visits;
        while (left > 0 && node.replicas.hasUnconfirmed()) {
            int[] gone = node.replicas.searchUnconfirmed(Math.min(left, SEARCHED_AT_ONCE));
            left -= SEARCHED_AT_ONCE + gone.length * Bounds.FORGOTTEN_IS_VISITS;
            for (int replica : gone) {
                lost += objects.fate(replicas.owner(replica)) == Fate.PUBLISHED ? 1 : 0;
                remove(replica);
            }
        }
        if (!node.replicas.hasUnconfirmed()) {
            node.replicas.becameWhole();
        }
        return lost;
    }

    /** See {@link Index#drop}. */
    boolean drop(NodeView node, int visits) {
        node.replicas.endSearch();
        for (int replica : node.replicas.some(visits)) {
            remove(replica);
        }
        boolean done = node.replicas.count() == 0;
        if (done) {
            copied(node);
            replicas.nodes().release(node);
        }
        return done;
    }

    private void remove(int replica) {
        NodeView node = replicas.node(replica);
        int object = replicas.owner(replica);
        fates.dropping(object, replica);
        node.replicas.remove(replica);
        node.recordBytes -= objects.bytesOf(object);
        objects.takes(object, -replicas.extentBytes(replica));
        replicas.destroy(replica);
        fates.recount(object);
        forgetIfNowhere(object);
    }

    private void forgetIfNowhere(int object) {
        if (replicas.firstOf(object) != Slabs.NONE || coming.mayCome(object)) {
            return;
        }
        fates.forget(object);
        if (!objects.isUnlisted(object)) {
            byId.remove(object);
        }
        objects.destroy(object);
    }
}
