// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.base.ProtocolViolation;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.NodeMessage.Changes;
import dev.kvpool.dataplane.wire.message.NodeMessage.FenceAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotBegin;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotRecords;
import dev.kvpool.nativelib.NativeNode;
import dev.kvpool.wire.RecordState;
import java.util.HashSet;
import java.util.Set;
import java.util.function.BiConsumer;

/** Applies the directory stream of a node to the index: a snapshot, and changes in unbroken order. */
public final class NodeStream {
    private final Leadership leadership;
    private final Index index;
    private final IndexRoom room;
    private final Tombstones tombstones;
    private final BiConsumer<NodeView, StoredObject> onCommit;
    private final BiConsumer<NodeView, Tombstones.OfKey> onTombstone;

    /**
     * Makes the way from the streams to the views.
     *
     * @param onCommit told of each object that a node newly shows
     * @param onTombstone told of each tombstone that a node newly shows
     */
    public NodeStream(
            Leadership leadership,
            Index index,
            IndexRoom room,
            Tombstones tombstones,
            BiConsumer<NodeView, StoredObject> onCommit,
            BiConsumer<NodeView, Tombstones.OfKey> onTombstone) {
        this.leadership = leadership;
        this.index = index;
        this.room = room;
        this.tombstones = tombstones;
        this.onCommit = onCommit;
        this.onTombstone = onTombstone;
    }

    public void introduce(NodeView node, NodeInfo info) throws ProtocolViolation {
        if (node.info() != null) {
            throw new ProtocolViolation("a node introduces itself once");
        }
        require(
                info.isTransient() || node.peer().namesPool(),
                "a node that keeps its objects must name its pool: start it with the --pool-id of the masters");
        if (info.segments().isEmpty()) {
            throw new ProtocolViolation("a node without a segment");
        }
        Set<Integer> indexes = new HashSet<>();
        for (Segment segment : info.segments()) {
            boolean sound = segment.capacityBytes() >= 0
                    && segment.capacityBytes() <= NativeNode.SEGMENT_BYTES_MAX
                    && segment.slots() >= 0;
            if (!indexes.add(segment.segment()) || !sound) {
                throw new ProtocolViolation("segment " + segment + " is named twice or has a size out of range");
            }
            require(
                    !info.isTransient()
                            || segment.slots()
                                    <= Math.max(
                                            Bounds.SEGMENT_SLOTS_MIN,
                                            segment.capacityBytes() / Bounds.BYTES_PER_SLOT_MIN),
                    "segment " + segment + " of an engine has more slots than one for each " + Bounds.BYTES_PER_SLOT_MIN
                            + " bytes");
        }
        boolean epochFits = Long.compareUnsigned(info.seen().epoch(), Bounds.EPOCH_MAX) < 0
                && Long.compareUnsigned(info.highestObject().epoch(), Bounds.EPOCH_MAX) < 0;
        if (!epochFits) {
            throw new ProtocolViolation("the node knows " + info.seen() + " and object " + info.highestObject()
                    + ", but a leadership Lease counts only to " + Bounds.EPOCH_MAX);
        }
        require(
                info.tcp().length() <= Bounds.ENDPOINT_CHARS_MAX && info.shm().length() <= Bounds.ENDPOINT_CHARS_MAX,
                "an endpoint of more than " + Bounds.ENDPOINT_CHARS_MAX + " characters");
        node.introduced(info);
    }

    public void begin(NodeView node, SnapshotBegin begin) throws ProtocolViolation {
        require(node.info() != null && !node.arrival.hasBegun(), "a snapshot begins once, after the introduction");
        index.beginSnapshot(node);
        node.arrival.snapshotBegins(begin.sequence());
    }

    public void snapshot(NodeView node, SnapshotRecords part) throws ProtocolViolation, IndexFullException {
        require(node.arrival.isInSnapshot(), "records of a snapshot outside of one");
        for (DirectoryRecord line : part.records()) {
            require(
                    line.state() == RecordState.COMMITTED || line.state() == RecordState.TOMBSTONE,
                    "a snapshot holds what is there, objects and tombstones");
            apply(node, line);
        }
        node.arrival.linesCame(part.records().size());
    }

    public void changes(NodeView node, Changes changes) throws ProtocolViolation, IndexFullException {
        require(node.arrival.hasBegun(), "changes before the snapshot");
        require(
                changes.sequence() == node.arrival.nextSequence(),
                "gap in the stream: change " + Long.toUnsignedString(changes.sequence()) + " instead of "
                        + Long.toUnsignedString(node.arrival.nextSequence()));
        for (DirectoryRecord line : changes.records()) {
            node.arrival.changeCame();
            apply(node, line);
        }
    }

    /** The snapshot is whole: what it did not hold is to be forgotten, by {@link #compare}. */
    public void end(NodeView node, SnapshotEnd end) throws ProtocolViolation {
        require(node.arrival.isInSnapshot(), "a snapshot ends that did not begin");
        require(
                end.count() == node.arrival.lines() && end.sequence() == node.arrival.nextSequence() - 1,
                "the snapshot says " + end.count() + " records up to change " + end.sequence() + ", but "
                        + node.arrival.lines() + " up to " + (node.arrival.nextSequence() - 1) + " came");
        node.arrival.snapshotIsHere();
    }

    /** Forgets a part of what the snapshot of a node did not hold; true when that is all, and its directory is known. */
    public boolean compare(NodeView node) {
        boolean tombstonesDone = tombstones.dropUnconfirmed(node, Bounds.TOMBSTONES_OF_NODE_PER_TICK);
        node.arrival.foundGone(index.dropUnconfirmed(node, Bounds.COMPARED_PER_TICK));
        if (!tombstonesDone || node.replicas.hasUnconfirmed()) {
            return false;
        }
        node.arrival.isWhole(leadership.phase() == Leadership.Phase.SERVING);
        return true;
    }

    /** What a node says that it obeys can be in a Lease. */
    public static void checkSeen(Authority seen) throws ProtocolViolation {
        require(
                Long.compareUnsigned(seen.epoch(), Bounds.EPOCH_MAX) < 0,
                "the node knows " + seen + ", but a leadership Lease counts only to " + Bounds.EPOCH_MAX);
    }

    /** A fence is answered in the stream: everything up to its position must have arrived. */
    public static void checkPosition(NodeView node, FenceAck ack) throws ProtocolViolation {
        require(node.info() != null, "an answer before the introduction");
        require(
                ack.incarnation() == node.peer().incarnation(),
                "an answer of incarnation " + String.format("%016x", ack.incarnation()));
        checkSeen(ack.seen());
        require(
                !node.arrival.hasBegun() || Long.compareUnsigned(ack.sequence(), node.arrival.nextSequence()) < 0,
                "gap in the stream: the fence stands behind change " + Long.toUnsignedString(ack.sequence()) + ", but "
                        + Long.toUnsignedString(node.arrival.nextSequence()) + " has not come");
    }

    private void apply(NodeView node, DirectoryRecord line) throws ProtocolViolation, IndexFullException {
        switch (line.state()) {
            case COMMITTED -> commit(node, line);
            case TOMBSTONE -> tombstone(node, line);
            case FREED -> {
                index.freed(node, line.extent());
                tombstones.freed(node, line.extent());
            }
            case NULL_VAL -> throw new ProtocolViolation("a directory record without a state");
        }
    }

    private void commit(NodeView node, DirectoryRecord line) throws ProtocolViolation, IndexFullException {
        requireSound(node, line);
        requirePlace(node, line);
        requireRoom(node, line);
        if (tombstones.outdates(node, line.extent())) {
            return;
        }
        tombstones.freed(node, line.extent());
        StoredObject object = index.commit(node, line);
        require(
                !node.isTransient() || !node.arrival.isWhole() || node.room.usedBytes() <= node.room.capacityBytes(),
                "objects of more bytes than the memory has that the engine lends");
        if (object != null) {
            onCommit.accept(node, object);
        }
    }

    private void tombstone(NodeView node, DirectoryRecord line) throws ProtocolViolation, IndexFullException {
        requireSound(node, line);
        requirePlace(node, line);
        if (!hasShare(node, Bounds.TOMBSTONE_RECORD_BYTES)) {
            throw new IndexFullException(ofEngines(node));
        }
        if (index.outdates(node, line.extent())) {
            return;
        }
        index.freed(node, line.extent());
        Tombstones.OfKey tombstone = tombstones.shown(node, line);
        if (tombstone != null) {
            onTombstone.accept(node, tombstone);
        }
    }

    /** Before anything of it is applied: what was applied of the lines before is right, and stays. */
    private void requireRoom(NodeView node, DirectoryRecord line) throws IndexFullException {
        boolean hasShare = hasShare(node, ObjectRecords.bytesOf(line));
        boolean takesMore = hasShare && (!node.arrival.isInSnapshot() || room.takesSnapshot());
        if (takesMore && index.hasRoomForAny()) {
            return;
        }
        if (!index.hasRoomFor(node, line, takesMore)) {
            throw new IndexFullException(
                    !hasShare
                            ? ofEngines(node)
                            : "what it holds beyond its " + node.replicaCount()
                                    + " objects in view has no room: " + room.usedBytes() + " of the " + room.maxBytes()
                                    + " bytes that records of the index may take are in use; give the masters more memory, or remove objects");
        }
    }

    /** Engines may take more than their part until the index is full: a leader grants what they hold as long as it is not. */
    private boolean hasShare(NodeView node, long bytes) {
        return !node.isTransient() || !room.isFull() || node.mayTakeRecord(bytes);
    }

    private String ofEngines(NodeView node) {
        return "what it holds beyond its " + node.replicaCount()
                + " objects in view is more than there is room for: of the "
                + room.maxBytes() + " bytes that records of the index may take, engines have a part, and those of one"
                + " tenant a part of that; give the masters more memory, or let engines lend less (global_segment_size)";
    }

    /** Memory of engines is as large as they say, and no larger: storage nodes are the pool's own. */
    private static void requirePlace(NodeView node, DirectoryRecord line) throws ProtocolViolation {
        require(
                !node.isTransient() || Long.compareUnsigned(line.extent().slot(), node.slotsOf(line.extent())) < 0,
                "a record in slot " + Long.toUnsignedString(line.extent().slot()) + " of "
                        + node.slotsOf(line.extent()));
    }

    private void requireSound(NodeView node, DirectoryRecord line) throws ProtocolViolation {
        boolean sound = node.hasSegment(line.extent().segment())
                && line.key().isValid()
                && line.payloadLength() >= 0
                && line.extentBytes() >= line.payloadLength()
                && line.extentBytes() <= node.capacityOf(line.extent())
                && Index.canHold(line);
        require(sound, "a directory record with a field out of range");
        require(node.mayShow(line.key()), "a record of another tenant than the one whose engine lends this memory");
        require(
                Long.compareUnsigned(line.objectId().epoch(), leadership.objectEpochMax()) <= 0,
                "object " + line.objectId() + " of an epoch above " + leadership.objectEpochMax()
                        + ", which no leader can have had");
        require(
                line.objectId().epoch() != 0
                        && (line.state() == RecordState.TOMBSTONE
                                || line.objectId().counter() != 0),
                "object " + line.objectId() + ", which no leader grants");
        require(
                !leadership.leads()
                        || leadership.objectIdToCome().isNewerThan(line.objectId())
                        || mayShowUngranted(node, line),
                "object " + line.objectId() + ", which this leader has not granted yet");
        node.showed(line.objectId().epoch());
    }

    /**
     * A tombstone reaches as far as what was granted when it was written. An object that a storage node has of this very epoch is of a Lease
     * that was set back; while this leader begins it is refused all the same: it would begin again with a higher epoch, for each that
     * is shown.
     */
    private boolean mayShowUngranted(NodeView node, DirectoryRecord line) {
        return line.state() == RecordState.TOMBSTONE
                ? node.mayKnowAllKeys()
                : !node.isTransient() && leadership.phase() == Leadership.Phase.SERVING;
    }

    private static void require(boolean holds, String otherwise) throws ProtocolViolation {
        if (!holds) {
            throw new ProtocolViolation(otherwise);
        }
    }
}
