// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeCommand.Activate;
import dev.kvpool.dataplane.wire.message.NodeCommand.Bury;
import dev.kvpool.dataplane.wire.message.NodeCommand.Copy;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.dataplane.wire.message.NodeCommand.Fence;
import dev.kvpool.dataplane.wire.message.NodeCommand.Free;
import dev.kvpool.dataplane.wire.message.NodeCommand.Purge;
import dev.kvpool.dataplane.wire.message.NodeCommand.Tombstone;
import dev.kvpool.dataplane.wire.message.NodeMessage.Changes;
import dev.kvpool.dataplane.wire.message.NodeMessage.CommandAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.FenceAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeStats;
import dev.kvpool.dataplane.wire.message.NodeMessage.Restored;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotBegin;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotRecords;
import dev.kvpool.dataplane.wire.message.NodeMessage.Ssd;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Medium;
import dev.kvpool.wire.RecordState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** A storage node as the contract says it behaves: directory, stream, obedience. It outlives its process. */
final class ModelNode {
    private static final int SNAPSHOT_PART = 3;

    /** A connection to a master and how far its snapshot is. */
    private static final class Stream {
        Link link;
        boolean begun;
        long sent;
    }

    final String id;
    private final World world;
    private final boolean isTransient;
    private final ModelDirectory directory;
    private ModelDirectory ssd = new ModelDirectory(ExtentRef.SSD, 0);
    private String ssdProblem = "";
    private final Map<ModelMaster, Stream> streams = new LinkedHashMap<>();
    private Consumer<DirectoryRecord> onFree = record -> {};
    private Authority seen = Authority.NONE;
    private ObjectId purgeId = ObjectId.NONE;
    private long objectLeaseMaxMs;
    private long incarnation;
    private long sequence;
    private final List<Runnable> unheard = new ArrayList<>();
    private boolean up = true;
    private boolean mute;
    private String zone = "";
    private ActiveVersions active = new ActiveVersions(1, 1);
    private ActiveVersions known = active;
    private int activationsHeard;
    private final Set<ObjectId> damaged = new HashSet<>();

    ModelNode(World world, String id, long capacityBytes, boolean isTransient) {
        this.world = world;
        this.id = id;
        directory = new ModelDirectory(ExtentRef.MEMORY, capacityBytes);
        this.isTransient = isTransient;
        this.incarnation = 1 + world.random.nextLong(Long.MAX_VALUE);
        world.listen(id + ":50061", this);
    }

    long incarnation() {
        return incarnation;
    }

    Authority seen() {
        return seen;
    }

    boolean isUp() {
        return up;
    }

    /** The objects of the directory, without its tombstones. */
    List<DirectoryRecord> directory() {
        return directory.ofState(RecordState.COMMITTED);
    }

    /** From its next connection on it has an SSD. */
    void addSsd(long capacityBytes) {
        ssd = new ModelDirectory(ExtentRef.SSD, capacityBytes);
    }

    List<DirectoryRecord> ssd() {
        return ssd.ofState(RecordState.COMMITTED);
    }

    /** The SSD breaks: what lies there is gone, and masters are told why. */
    void breakSsd(String problem) {
        ssdProblem = problem;
        for (DirectoryRecord record : ssd.all()) {
            ssd.remove(record);
            change(DirectoryRecord.freed(record.extent(), record.objectId()));
        }
        NodeStats stats = new NodeStats(sequence, 0, Long.MAX_VALUE, 0, 0, 0, 0, 0, 0, active, new Ssd(0, 0, problem));
        streams.values().forEach(stream -> stream.link.toMaster(stats));
    }

    List<DirectoryRecord> tombstones() {
        return directory.ofState(RecordState.TOMBSTONE);
    }

    ObjectId purgeId() {
        return purgeId;
    }

    /** Called with each record that a leader has freed. */
    void onFree(Consumer<DirectoryRecord> listener) {
        onFree = listener;
    }

    void dial(ModelMaster master) {
        if (!up || (streams.containsKey(master) && streams.get(master).link.isOpen())) {
            return;
        }
        Stream stream = new Stream();
        streams.remove(master);
        master.connectNode(
                        new NodePeer(id, incarnation, "0.1.0"),
                        message -> receive(stream, message),
                        () -> streams.remove(master, stream))
                .ifPresent(link -> {
                    stream.link = link;
                    streams.put(master, stream);
                    introduce(stream);
                });
    }

    void hangUp(ModelMaster master) {
        if (streams.containsKey(master)) {
            streams.get(master).link.end("the node hung up");
        }
    }

    /** Kill; the segment file stays. */
    void crash() {
        up = false;
        List.copyOf(streams.values()).forEach(stream -> stream.link.end("the node died"));
        streams.clear();
    }

    void start() {
        up = true;
        incarnation = 1 + world.random.nextLong(Long.MAX_VALUE);
        sequence = 0;
    }

    /** The memory is lost and the next life begins with an empty segment. */
    void wipe() {
        directory.wipe();
        seen = Authority.NONE;
        purgeId = ObjectId.NONE;
        objectLeaseMaxMs = 0;
        active = new ActiveVersions(1, 1);
    }

    /** A client's write, start to commit; the authority is checked at the moment of the commit. */
    Status write(Authority authority, ObjectId objectId, Key key, long payloadLength, int payloadCrc) {
        return write(authority, objectId, key, payloadLength, payloadCrc, Retention.NONE);
    }

    Status write(
            Authority authority, ObjectId objectId, Key key, long payloadLength, int payloadCrc, Retention retention) {
        if (!up) {
            return Status.CONNECT_FAILED;
        }
        if (!authority.equals(seen)) {
            return Long.compareUnsigned(authority.epoch(), seen.epoch()) > 0 ? Status.NOT_FENCED : Status.STALE_EPOCH;
        }
        if (purgeId.isNewerThan(objectId)) {
            return Status.STALE_EPOCH;
        }
        return add(RecordState.COMMITTED, objectId, key, payloadLength, payloadCrc, retention);
    }

    private Status add(
            RecordState state, ObjectId objectId, Key key, long payloadLength, int payloadCrc, Retention retention) {
        if (!directory.fits(ExtentSize.of(key.length(), payloadLength))) {
            return Status.NO_SPACE;
        }
        change(directory.add(state, objectId, key, payloadLength, payloadCrc, retention));
        return Status.OK;
    }

    private void change(DirectoryRecord record) {
        sequence++;
        for (Stream stream : streams.values()) {
            if (stream.begun) {
                stream.link.toMaster(new Changes(sequence, List.of(record)));
            }
        }
    }

    private void introduce(Stream stream) {
        List<Segment> segments = new ArrayList<>();
        segments.add(new Segment(ExtentRef.MEMORY, Medium.DRAM, directory.capacityBytes(), 1024));
        if (ssd.capacityBytes() > 0) {
            segments.add(new Segment(ExtentRef.SSD, Medium.SSD, ssd.capacityBytes(), 1024));
        }
        stream.link.toMaster(new NodeInfo(
                seen,
                purgeId,
                objectLeaseMaxMs,
                directory.highest(),
                isTransient,
                Restored.NOTHING,
                active,
                segments,
                id + ":50061",
                "",
                zone));
        stream.link.toMaster(new SnapshotBegin(sequence));
        stream.begun = true;
        sendPart(stream, 0);
    }

    /** A few records at a time, so that changes and fences come in between. */
    private void sendPart(Stream stream, long afterSlot) {
        if (!stream.link.isOpen()) {
            return;
        }
        List<DirectoryRecord> part = directory.after(afterSlot, SNAPSHOT_PART);
        stream.sent += part.size();
        if (part.isEmpty()) {
            stream.sent += ssd.all().size();
            stream.link.toMaster(new SnapshotRecords(ssd.all()));
            stream.link.toMaster(new SnapshotEnd(stream.sent, sequence));
            return;
        }
        stream.link.toMaster(new SnapshotRecords(part));
        long last = part.getLast().extent().slot();
        world.in(world.delayMs(), () -> sendPart(stream, last));
    }

    /** Signs of life of their own, as a real node's statistics are. */
    void heartbeatEvery(long periodMs) {
        world.every(periodMs, () -> streams.values().forEach(stream -> stream.link.toMaster(new Heartbeat())));
    }

    /** What its build knows at most. */
    ModelNode knowing(int wire, int layout) {
        known = new ActiveVersions(wire, layout);
        return this;
    }

    int activationsHeard() {
        return activationsHeard;
    }

    ActiveVersions active() {
        return active;
    }

    /** A mute node is alive, but commands wait until it speaks again. */
    void mute(boolean on) {
        mute = on;
        if (!on) {
            List<Runnable> late = List.copyOf(unheard);
            unheard.clear();
            late.forEach(Runnable::run);
        }
    }

    /** What a held node says stays on the way. */
    void hold(boolean on) {
        streams.values().forEach(stream -> stream.link.hold(on));
    }

    private void receive(Stream stream, Message message) {
        if (mute) {
            unheard.add(() -> receive(stream, message));
            return;
        }
        switch (message) {
            case Fence it -> fence(stream, it);
            case Free it -> free(stream, it);
            case Bury it -> bury(stream, it);
            case Purge it -> purge(stream, it);
            case Copy it -> copy(stream, it);
            case Activate it -> activate(stream, it);
            default -> stream.link.toMaster(message);
        }
    }

    private void fence(Stream stream, Fence fence) {
        Authority asked = fence.authority();
        int order = Long.compareUnsigned(asked.epoch(), seen.epoch());
        boolean accepted = order > 0 || asked.equals(seen);
        if (accepted) {
            seen = asked;
            objectLeaseMaxMs = Math.max(objectLeaseMaxMs, fence.objectLeaseMs());
            purge(fence.purgeId());
        }
        stream.link.toMaster(
                new FenceAck(fence.requestId(), accepted, seen, incarnation, sequence, objectLeaseMaxMs, purgeId));
    }

    /** All of them or none. */
    private void bury(Stream stream, Bury bury) {
        boolean accepted = bury.authority().equals(seen);
        Status status = Status.OK;
        if (accepted) {
            long needed = 0;
            for (Tombstone tombstone : bury.tombstones()) {
                needed += ExtentSize.of(tombstone.key().length(), 0);
            }
            status = directory.fits(needed) ? Status.OK : Status.NO_SPACE;
            if (status == Status.OK) {
                bury.tombstones()
                        .forEach(it -> add(RecordState.TOMBSTONE, it.objectId(), it.key(), 0, 0, Retention.NONE));
            }
        }
        stream.link.toMaster(new CommandAck(bury.requestId(), accepted, seen, status));
    }

    private void purge(Stream stream, Purge purge) {
        boolean accepted = purge.authority().equals(seen);
        if (accepted) {
            purge(purge.purgeId());
        }
        stream.link.toMaster(new CommandAck(purge.requestId(), accepted, seen, Status.OK));
    }

    private void activate(Stream stream, Activate activate) {
        boolean accepted = activate.authority().equals(seen);
        activationsHeard++;
        boolean understood = !activate.versions().exceeds(known);
        active = accepted && understood ? active.or(activate.versions()) : active;
        Status status = understood ? Status.OK : Status.VERSION_MISMATCH;
        stream.link.toMaster(new CommandAck(activate.requestId(), accepted, seen, status));
    }

    private void purge(ObjectId below) {
        purgeId = below.isNewerThan(purgeId) ? below : purgeId;
        List<DirectoryRecord> everything = new ArrayList<>(directory.all());
        everything.addAll(ssd.all());
        for (DirectoryRecord record : everything) {
            if (purgeId.isNewerThan(record.objectId())) {
                free(new Extent(record.extent(), record.objectId()));
            }
        }
    }

    /** Reads from the other node after some time, and commits if the authority is still the one obeyed. */
    private void copy(Stream stream, Copy copy) {
        world.in(world.delayMs(), () -> {
            Status status = copy.authority().equals(seen) ? fetch(copy) : Status.STALE_EPOCH;
            boolean accepted = copy.authority().equals(seen);
            stream.link.toMaster(new CommandAck(copy.requestId(), accepted, seen, status));
        });
    }

    private Status fetch(Copy copy) {
        if (!up) {
            return Status.UNAVAILABLE;
        }
        ModelDirectory target = copy.medium() == Medium.SSD ? ssd : directory;
        if (target.ofState(RecordState.COMMITTED).stream()
                .anyMatch(record -> record.objectId().equals(copy.objectId()))) {
            return Status.EXISTS;
        }
        ModelNode source = world.byEndpoint(copy.sourceTcp());
        if (source == null || !source.up || source.incarnation != copy.sourceIncarnation()) {
            return Status.CONNECT_FAILED;
        }
        DirectoryRecord record = source.of(copy.sourceExtent()).find(new Extent(copy.sourceExtent(), copy.objectId()));
        if (record == null) {
            return Status.NOT_FOUND;
        }
        if (source.damaged.contains(copy.objectId()) || record.payloadCrc() != copy.payloadCrc()) {
            return Status.CHECKSUM;
        }
        if (copy.medium() == Medium.SSD) {
            return toSsd(record);
        }
        return write(
                copy.authority(),
                copy.objectId(),
                copy.key(),
                copy.payloadLength(),
                copy.payloadCrc(),
                copy.retention());
    }

    private Status toSsd(DirectoryRecord record) {
        if (!ssdProblem.isEmpty()) {
            return Status.UNAVAILABLE;
        }
        if (!ssd.fits(ssd.sizeOf(record.key(), record.payloadLength()))) {
            return Status.NO_SPACE;
        }
        change(ssd.add(
                RecordState.COMMITTED,
                record.objectId(),
                record.key(),
                record.payloadLength(),
                record.payloadCrc(),
                record.retention()));
        return Status.OK;
    }

    private ModelDirectory of(ExtentRef extent) {
        return extent.segment() == ExtentRef.SSD ? ssd : directory;
    }

    /** From now on the bytes of an object here do not match their checksum. */
    void damage(ObjectId id) {
        damaged.add(id);
    }

    void zone(String name) {
        zone = name;
    }

    private void free(Stream stream, Free free) {
        boolean accepted = free.authority().equals(seen);
        if (accepted) {
            free.extents().forEach(this::free);
        }
        stream.link.toMaster(new CommandAck(free.requestId(), accepted, seen, Status.OK));
    }

    private void free(Extent extent) {
        DirectoryRecord record = of(extent.extent()).find(extent);
        if (record == null) {
            return;
        }
        of(extent.extent()).remove(record);
        if (record.state() == RecordState.COMMITTED) {
            onFree.accept(record);
        }
        change(DirectoryRecord.freed(record.extent(), record.objectId()));
    }
}
