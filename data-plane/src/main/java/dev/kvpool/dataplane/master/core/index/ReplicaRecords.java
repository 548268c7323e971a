// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import org.agrona.collections.Long2LongHashMap;

/**
 * How replicas lie in memory: an object's first one inside of the object's block, each further one in a block of its own that
 * names its object and the next one.
 */
final class ReplicaRecords {
    private static final int GENERATION = 0;
    private static final int PLACE = 8;
    private static final int SLOT = 16;
    private static final int NODE = 20;
    private static final int SEGMENT = 22;
    static final int NEXT_BY_PLACE = 24;

    /** Bytes of a replica inside of an object. */
    static final int FIRST_BYTES = 28;

    private static final int OWNER = FIRST_BYTES;
    private static final int NEXT_OF_OBJECT = 32;
    static final int FURTHER_BYTES = 36;

    /** The place: the payload's offset, and below it the number of the snapshot that held it last, and flags. */
    private static final int OFFSET_SHIFT = 18;

    private static final int SNAPSHOT_SHIFT = 3;
    private static final long SNAPSHOT_MASK = NodeReplicas.SNAPSHOT_MAX << SNAPSHOT_SHIFT;
    private static final long FREEING = 1;
    private static final long INSIDE = 1 << 1;
    private static final long ODD_SIZE = 1 << 2;
    private static final long OFFSET_MAX = Long.MAX_VALUE >> OFFSET_SHIFT;
    private static final long SLOT_MAX = 0xffff_ffffL;
    private static final int SEGMENT_MAX = 0xffff;

    /** Stands in the place of the node of what is no replica any more. */
    private static final int GONE = 0xffff;

    private final Slabs slabs;
    private final ObjectRecords objects;
    private final NodeNumbers nodes = new NodeNumbers();

    /** Extents that are not as large as the layout says, by replica: none, as long as all nodes are of this version. */
    private final Long2LongHashMap oddSizes = new Long2LongHashMap(-1);

    ReplicaRecords(Slabs slabs, ObjectRecords objects) {
        this.slabs = slabs;
        this.objects = objects;
    }

    /** Whether every field of a line fits its place here. */
    static boolean canHold(DirectoryRecord line) {
        ExtentRef extent = line.extent();
        return extent.segment() >= 0
                && extent.segment() <= SEGMENT_MAX
                && extent.slot() >= 0
                && extent.slot() <= SLOT_MAX
                && line.offset() >= 0
                && line.offset() <= OFFSET_MAX;
    }

    NodeNumbers nodes() {
        return nodes;
    }

    /** A new replica of an object, confirmed by the node's present snapshot; in no table. */
    int create(int object, NodeView node, DirectoryRecord line) {
        boolean inside = !objects.hasFirstReplica(object);
        int replica;
        if (inside) {
            replica = Slabs.part(object, ObjectRecords.FIRST_REPLICA);
            objects.setHasFirstReplica(object, true);
        } else {
            replica = slabs.allocate(FURTHER_BYTES);
            slabs.setInt(replica, OWNER, object);
            slabs.setInt(replica, NEXT_OF_OBJECT, objects.link(object, ObjectRecords.MORE_REPLICAS));
            objects.setLink(object, ObjectRecords.MORE_REPLICAS, replica);
        }
        boolean odd = line.extentBytes() != usualSize(object, line.extent().segment());
        if (odd) {
            oddSizes.put(replica, line.extentBytes());
        }
        slabs.setLong(replica, GENERATION, line.extent().generation());
        slabs.setInt(replica, SLOT, (int) line.extent().slot());
        slabs.setShort(replica, NODE, nodes.numberOf(node));
        slabs.setShort(replica, SEGMENT, line.extent().segment());
        slabs.setLong(replica, PLACE, (line.offset() << OFFSET_SHIFT) | (inside ? INSIDE : 0) | (odd ? ODD_SIZE : 0));
        setSnapshot(replica, node.replicas.snapshot());
        return replica;
    }

    void destroy(int replica) {
        int object = owner(replica);
        if (is(replica, ODD_SIZE)) {
            oddSizes.remove(replica);
        }
        slabs.setShort(replica, NODE, GONE);
        if (is(replica, INSIDE)) {
            objects.setHasFirstReplica(object, false);
            return;
        }
        int following = slabs.getInt(replica, NEXT_OF_OBJECT);
        int before = objects.link(object, ObjectRecords.MORE_REPLICAS);
        if (before == replica) {
            objects.setLink(object, ObjectRecords.MORE_REPLICAS, following);
        } else {
            while (slabs.getInt(before, NEXT_OF_OBJECT) != replica) {
                before = slabs.getInt(before, NEXT_OF_OBJECT);
            }
            slabs.setInt(before, NEXT_OF_OBJECT, following);
        }
        slabs.release(replica, FURTHER_BYTES);
    }

    boolean isLive(int replica) {
        return slabs.getShort(replica, NODE) != GONE;
    }

    // ---- the replicas of an object --------------------------------------------------------------------------------

    /** The first of them, or {@link Slabs#NONE}; others follow by {@link #nextOf}. */
    int firstOf(int object) {
        return objects.hasFirstReplica(object)
                ? Slabs.part(object, ObjectRecords.FIRST_REPLICA)
                : objects.link(object, ObjectRecords.MORE_REPLICAS);
    }

    int nextOf(int replica) {
        return is(replica, INSIDE)
                ? objects.link(owner(replica), ObjectRecords.MORE_REPLICAS)
                : slabs.getInt(replica, NEXT_OF_OBJECT);
    }

    int owner(int replica) {
        return is(replica, INSIDE) ? Slabs.part(replica, -ObjectRecords.FIRST_REPLICA) : slabs.getInt(replica, OWNER);
    }

    boolean isAvailable(int object) {
        for (int replica = firstOf(object); replica != Slabs.NONE; replica = nextOf(replica)) {
            if (node(replica).usable) {
                return true;
            }
        }
        return false;
    }

    /** How many replicas of an object lie on usable nodes. */
    int usable(int object) {
        int count = 0;
        for (int replica = firstOf(object); replica != Slabs.NONE; replica = nextOf(replica)) {
            count += node(replica).usable ? 1 : 0;
        }
        return count;
    }

    /** On how many nodes that count an object lies; see {@link Index#serve}. */
    int counted(int object) {
        int count = 0;
        for (int replica = firstOf(object); replica != Slabs.NONE; replica = nextOf(replica)) {
            count += node(replica).counted && !isSecond(replica) ? 1 : 0;
        }
        return count;
    }

    /** On how many of them whose memory is here to stay. */
    int lasting(int object) {
        int count = 0;
        for (int replica = firstOf(object); replica != Slabs.NONE; replica = nextOf(replica)) {
            NodeView node = node(replica);
            count += node.counted && !node.isTransient() && !isSecond(replica) ? 1 : 0;
        }
        return count;
    }

    /** Whether it lies on an SSD and the memory of the same node holds the object too: the two are one copy. */
    boolean isSecond(int replica) {
        return !isInMemory(replica) && find(owner(replica), node(replica), true) != Slabs.NONE;
    }

    boolean isInMemory(int replica) {
        return segment(replica) == ExtentRef.MEMORY;
    }

    /** The replica of an object in the memory, or on the SSD, of a node; {@link Slabs#NONE} when there is none. */
    int find(int object, NodeView node, boolean inMemory) {
        for (int replica = firstOf(object); replica != Slabs.NONE; replica = nextOf(replica)) {
            if (node(replica) == node && isInMemory(replica) == inMemory) {
                return replica;
            }
        }
        return Slabs.NONE;
    }

    /** How many replicas of an object lie on one node: nearly always one. */
    int countOn(int object, NodeView node) {
        int count = 0;
        for (int replica = firstOf(object); replica != Slabs.NONE; replica = nextOf(replica)) {
            count += node(replica) == node ? 1 : 0;
        }
        return count;
    }

    // ---- one replica ----------------------------------------------------------------------------------------------

    NodeView node(int replica) {
        return nodes.node(slabs.getShort(replica, NODE));
    }

    ExtentRef extent(int replica) {
        return new ExtentRef(segment(replica), slot(replica), generation(replica));
    }

    long generation(int replica) {
        return slabs.getLong(replica, GENERATION);
    }

    int segment(int replica) {
        return slabs.getShort(replica, SEGMENT);
    }

    long slot(int replica) {
        return Integer.toUnsignedLong(slabs.getInt(replica, SLOT));
    }

    boolean isIn(int replica, ExtentRef extent) {
        return slot(replica) == extent.slot() && segment(replica) == extent.segment();
    }

    long offset(int replica) {
        return slabs.getLong(replica, PLACE) >>> OFFSET_SHIFT;
    }

    long extentBytes(int replica) {
        if (is(replica, ODD_SIZE)) {
            return oddSizes.get(replica);
        }
        return usualSize(owner(replica), segment(replica));
    }

    private long usualSize(int object, int segment) {
        long payload = objects.payloadLength(object);
        return segment == ExtentRef.SSD ? ExtentSize.onSsd(payload) : ExtentSize.of(objects.keyLength(object), payload);
    }

    boolean is(int replica, DirectoryRecord line) {
        return generation(replica) == line.extent().generation()
                && offset(replica) == line.offset()
                && objects.hasId(owner(replica), line.objectId());
    }

    boolean isFreeing(int replica) {
        return is(replica, FREEING);
    }

    void setFreeing(int replica, boolean freeing) {
        long place = slabs.getLong(replica, PLACE);
        slabs.setLong(replica, PLACE, freeing ? place | FREEING : place & ~FREEING);
    }

    int snapshot(int replica) {
        return (int) ((slabs.getLong(replica, PLACE) & SNAPSHOT_MASK) >>> SNAPSHOT_SHIFT);
    }

    void setSnapshot(int replica, int snapshot) {
        long others = slabs.getLong(replica, PLACE) & ~SNAPSHOT_MASK;
        slabs.setLong(replica, PLACE, others | ((long) snapshot << SNAPSHOT_SHIFT));
    }

    private boolean is(int replica, long flag) {
        return (slabs.getLong(replica, PLACE) & flag) != 0;
    }
}
