// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeCommand.Activate;
import dev.kvpool.dataplane.wire.message.NodeCommand.Copy;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.dataplane.wire.message.NodeCommand.Fence;
import dev.kvpool.dataplane.wire.message.NodeCommand.Free;
import dev.kvpool.dataplane.wire.message.NodeCommand.KeepTombstones;
import dev.kvpool.dataplane.wire.message.NodeCommand.Purge;
import dev.kvpool.dataplane.wire.message.NodeCommand.Tombstone;
import dev.kvpool.dataplane.wire.message.NodeMessage;
import dev.kvpool.dataplane.wire.message.NodeMessage.CommandAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.FenceAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeStats;
import dev.kvpool.dataplane.wire.message.NodeMessage.Restored;
import dev.kvpool.dataplane.wire.message.NodeMessage.Ssd;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Medium;
import dev.kvpool.wire.RecordState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** A storage node as the contract says it behaves: directory, stream, obedience. It outlives its process. */
final class ModelNode {
    final String id;
    private final World world;
    private final boolean isTransient;
    private final ModelMedia media;
    private final Map<ModelMaster, ModelStream> streams = new LinkedHashMap<>();
    private Consumer<DirectoryRecord> onFree = record -> {};
    private ModelObedience obedience = new ModelObedience();
    private ModelObedience hiddenObedience;
    private long incarnation;
    private long memory;
    private long memoryOfLifeBefore;
    private long sequence;
    private final List<Runnable> unheard = new ArrayList<>();

    /** What a stalled SSD has been told to do and has not done; null while it does everything at once. */
    private List<Runnable> ssdJobs;

    private final List<Key> onTheirWayToSsd = new ArrayList<>();

    private boolean up = true;
    private boolean mute;
    private boolean ignoresPurges;
    private Optional<Status> refusesPurges = Optional.empty();
    private boolean unreachable;
    private String zone = "";
    private Optional<Tenant> tenant = Optional.empty();
    private ObjectId oldestGrant = ObjectId.NONE;
    private final Set<ObjectId> damaged = new HashSet<>();

    ModelNode(World world, String id, long capacityBytes, boolean isTransient) {
        this.world = world;
        this.id = id;
        media = new ModelMedia(capacityBytes);
        this.isTransient = isTransient;
        this.incarnation = 1 + world.random.nextLong(Long.MAX_VALUE);
        this.memory = incarnation;
        this.memoryOfLifeBefore = memory;
        world.listen(id + ":50061", this);
    }

    /** Its memory is of an engine with such a certificate; before it dials. */
    ModelNode ofTenant(Tenant whose) {
        tenant = Optional.of(whose);
        return this;
    }

    long incarnation() {
        return incarnation;
    }

    ModelObedience obedience() {
        return obedience;
    }

    Authority seen() {
        return obedience.seen();
    }

    boolean isUp() {
        return up;
    }

    /** The objects of the directory, without its tombstones. */
    List<DirectoryRecord> directory() {
        return media.memory().ofState(RecordState.COMMITTED);
    }

    void addSsd(long capacityBytes) {
        media.addSsd(capacityBytes);
    }

    List<DirectoryRecord> ssd() {
        return media.ssd().ofState(RecordState.COMMITTED);
    }

    /** Its statistics, as far as they matter here. */
    void tellLargestFree(long bytes) {
        tell(bytes, "");
    }

    private void tell(long largestFreeBytes, String ssdProblem) {
        tellAll(new NodeStats(sequence, 0, largestFreeBytes, 0, 0, 0, 0, 0, 0, active(), new Ssd(0, 0, ssdProblem)));
    }

    /** Between two lives with different memories, see {@link ModelMedia#hideSsd}. */
    void hideSsd(boolean on) {
        media.hideSsd(on);
    }

    /** The SSD breaks: what lies there is gone, and masters are told why. */
    void breakSsd(String problem) {
        media.breakSsd(problem);
        tell(Long.MAX_VALUE, problem);
        for (DirectoryRecord record : media.ssd().all()) {
            media.remove(record);
            change(DirectoryRecord.freed(record.extent(), record.objectId()));
        }
        stallSsd(false);
    }

    List<DirectoryRecord> tombstones() {
        return media.memory().ofState(RecordState.TOMBSTONE);
    }

    ObjectId purgeId() {
        return obedience.purgeId();
    }

    /** Called with each record that a leader has freed. */
    void onFree(Consumer<DirectoryRecord> listener) {
        onFree = listener;
    }

    void dial(ModelMaster master) {
        if (up && !(streams.containsKey(master) && streams.get(master).link.isOpen())) {
            connect(master);
        }
    }

    /** Also while there is a connection, as a node does before its certificate ends. */
    void connect(ModelMaster master) {
        ModelStream stream = new ModelStream();
        streams.remove(master);
        master.connectNode(
                        new NodePeer(id, incarnation, "0.1.0", true, tenant),
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

    /** Nothing that a stalled SSD is told to do is done before it goes on, and nothing of it when the node dies before that. */
    void stallSsd(boolean on) {
        List<Runnable> late = ssdJobs == null ? List.of() : ssdJobs;
        ssdJobs = on ? new ArrayList<>(late) : null;
        if (!on) {
            late.forEach(Runnable::run);
        }
    }

    /** What a stalled SSD was told to take. */
    List<Key> onTheirWayToSsd() {
        return List.copyOf(onTheirWayToSsd);
    }

    private void forgetSsdJobs() {
        onTheirWayToSsd.clear();
        if (ssdJobs != null) {
            ssdJobs.clear();
        }
    }

    private void onSsd(Runnable job) {
        if (ssdJobs == null) {
            job.run();
        } else {
            ssdJobs.add(job);
        }
    }

    /** Kill; the segment file stays. */
    void crash() {
        up = false;
        forgetSsdJobs();
        List.copyOf(streams.values()).forEach(stream -> stream.link.end("the node died"));
        streams.clear();
    }

    void tellAll(Message message) {
        streams.values().forEach(stream -> stream.link.toMaster(message));
    }

    void start() {
        up = true;
        incarnation = 1 + world.random.nextLong(Long.MAX_VALUE);
        sequence = 0;
        media.restart(memory != memoryOfLifeBefore);
        memoryOfLifeBefore = memory;
    }

    /** The memory is lost and the next life begins with an empty segment. */
    void wipe() {
        media.memory().wipe();
        obedience.wipe();
        memory++;
    }

    /** The next life begins with an empty segment, as without a mount; with false with the one of before, as that was. */
    void hideMemory(boolean on) {
        media.hideMemory(on);
        if (on) {
            hiddenObedience = obedience;
            obedience = new ModelObedience();
            memory++;
        } else {
            obedience = hiddenObedience;
            memory--;
        }
    }

    /** A client's write, start to commit; the authority is checked at the moment of the commit. */
    Status write(Authority authority, ObjectId objectId, Key key, long payloadLength, int payloadCrc) {
        return write(authority, objectId, key, payloadLength, payloadCrc, Retention.NONE);
    }

    Status write(
            Authority authority, ObjectId objectId, Key key, long payloadLength, int payloadCrc, Retention retention) {
        return write(Medium.DRAM, authority, object(objectId, key, payloadLength, payloadCrc, retention));
    }

    private static DirectoryRecord object(
            ObjectId objectId, Key key, long payloadLength, int payloadCrc, Retention retention) {
        return new DirectoryRecord(
                RecordState.COMMITTED, null, objectId, 0, 0, payloadLength, payloadCrc, retention, key);
    }

    private Status write(Medium medium, Authority authority, DirectoryRecord object) {
        if (!up) {
            return Status.CONNECT_FAILED;
        }
        Status judged = obedience.judge(authority);
        if (judged != Status.OK) {
            return judged;
        }
        return purgeId().isNewerThan(object.objectId()) ? Status.STALE_EPOCH : add(medium, object);
    }

    private Status add(Medium medium, DirectoryRecord object) {
        Status room = media.room(medium, object);
        if (room == Status.OK) {
            change(media.add(medium, object));
        }
        return room;
    }

    private void change(DirectoryRecord record) {
        sequence++;
        streams.values().forEach(stream -> stream.change(sequence, record));
    }

    private void introduce(ModelStream stream) {
        stream.link.toMaster(new NodeInfo(
                seen(),
                purgeId(),
                obedience.objectLeaseMaxMs(),
                media.memory().highest(),
                isTransient,
                Restored.NOTHING,
                memory,
                media.ssdNumber(),
                active(),
                media.segments(),
                address(),
                "",
                zone));
        stream.begin(world, media, () -> sequence);
    }

    /** Where it serves clients, as it says. */
    String address() {
        return id + ":50061";
    }

    /** Signs of life of their own, as a real node's statistics are. */
    void heartbeatEvery(long periodMs) {
        world.every(periodMs, () -> streams.values().forEach(stream -> stream.link.toMaster(new Heartbeat())));
    }

    /** An object was put there under a leader that nobody else knows. */
    void keep(ObjectId objectId, Key key, long payloadLength, Retention retention) {
        add(Medium.DRAM, object(objectId, key, payloadLength, 1, retention));
    }

    /** Something that a node should not say now. */
    void say(ModelMaster master, NodeMessage message) {
        streams.get(master).link.toMaster(message);
    }

    /** What it tells next makes the core of each master throw. */
    void poison() {
        streams.values().forEach(ModelStream::poison);
    }

    /** What its build knows at most. */
    ModelNode knowing(int wire, int layout) {
        obedience.know(new ActiveVersions(wire, layout));
        return this;
    }

    int activationsHeard() {
        return obedience.activationsHeard();
    }

    ActiveVersions active() {
        return obedience.active();
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

    /** It answers all else. */
    void ignorePurges() {
        ignoresPurges = true;
    }

    /** It says at once that it did not do it. */
    void refusePurges(Status why) {
        refusesPurges = Optional.of(why);
    }

    /** What a held node says stays on the way. */
    void hold(boolean on) {
        streams.values().forEach(stream -> stream.link.hold(on));
    }

    /** What it heard of last: grants below are over. */
    ObjectId oldestGrant() {
        return oldestGrant;
    }

    private void receive(ModelStream stream, Message message) {
        if (mute) {
            unheard.add(() -> receive(stream, message));
            return;
        }
        switch (message) {
            case Fence it -> fence(stream, it);
            case Free it -> free(stream, it);
            case KeepTombstones it -> writeTombstone(stream, it);
            case Purge it when ignoresPurges -> {}
            case Purge it
            when refusesPurges.isPresent() -> acknowledge(stream, it.requestId(), true, refusesPurges.get());
            case Purge it -> purge(stream, it);
            case Copy it -> copy(stream, it);
            case Activate it -> activate(stream, it);
            case Heartbeat it -> {
                oldestGrant = it.oldestGrant();
                stream.link.toMaster(new Heartbeat(it.beat()));
            }
            default -> stream.link.toMaster(message);
        }
    }

    private void fence(ModelStream stream, Fence fence) {
        boolean accepted = obedience.fence(fence);
        if (accepted) {
            purge(fence.purgeId());
        }
        stream.link.toMaster(new FenceAck(
                fence.requestId(), accepted, seen(), incarnation, sequence, obedience.objectLeaseMaxMs(), purgeId()));
    }

    /** All of them or none. */
    private void writeTombstone(ModelStream stream, KeepTombstones keepTombstones) {
        boolean accepted = obedience.obeys(keepTombstones.authority());
        Status status = Status.OK;
        if (accepted) {
            long needed = 0;
            for (Tombstone tombstone : keepTombstones.tombstones()) {
                needed += ExtentSize.of(tombstone.key().length(), 0);
            }
            status = media.memory().fits(needed) ? Status.OK : Status.NO_SPACE;
            if (status == Status.OK) {
                keepTombstones
                        .tombstones()
                        .forEach(it -> add(
                                Medium.DRAM,
                                new DirectoryRecord(
                                        RecordState.TOMBSTONE,
                                        null,
                                        it.objectId(),
                                        0,
                                        0,
                                        0,
                                        0,
                                        Retention.NONE,
                                        it.key())));
            }
        }
        acknowledge(stream, keepTombstones.requestId(), accepted, status);
    }

    private void purge(ModelStream stream, Purge purge) {
        boolean accepted = obedience.obeys(purge.authority());
        if (accepted) {
            purge(purge.purgeId());
        }
        acknowledge(stream, purge.requestId(), accepted, Status.OK);
    }

    private void activate(ModelStream stream, Activate activate) {
        Status status = obedience.activate(activate);
        acknowledge(stream, activate.requestId(), obedience.obeys(activate.authority()), status);
    }

    private void acknowledge(ModelStream stream, long requestId, boolean accepted, Status status) {
        stream.link.toMaster(new CommandAck(requestId, accepted, seen(), status));
    }

    private void purge(ObjectId below) {
        obedience.raisePurge(below);
        for (DirectoryRecord record : media.all()) {
            if (purgeId().isNewerThan(record.objectId())) {
                free(new Extent(record.extent(), record.objectId()));
            }
        }
    }

    /** Reads from the other node after some time, and commits if the authority is still the one obeyed. */
    private void copy(ModelStream stream, Copy copy) {
        world.in(world.delayMs(), () -> {
            if (copy.medium() == Medium.SSD) {
                onTheirWayToSsd.add(copy.key());
                onSsd(() -> {
                    onTheirWayToSsd.remove(copy.key());
                    copyNow(stream, copy);
                });
            } else {
                copyNow(stream, copy);
            }
        });
    }

    private void copyNow(ModelStream stream, Copy copy) {
        boolean accepted = obedience.obeys(copy.authority());
        Status status = accepted ? fetch(copy) : Status.STALE_EPOCH;
        acknowledge(stream, copy.requestId(), accepted, status);
    }

    private Status fetch(Copy copy) {
        if (!up) {
            return Status.UNAVAILABLE;
        }
        if (media.holds(copy.medium(), copy.objectId())) {
            return Status.EXISTS;
        }
        ModelNode source = world.byEndpoint(copy.sourceTcp());
        boolean answers = source != null && source.up && !source.unreachable;
        if (!answers || source.incarnation != copy.sourceIncarnation()) {
            return Status.CONNECT_FAILED;
        }
        DirectoryRecord record = source.media.find(new Extent(copy.sourceExtent(), copy.objectId()));
        if (record == null) {
            return Status.NOT_FOUND;
        }
        if (source.damaged.contains(copy.objectId()) || record.payloadCrc() != copy.payloadCrc()) {
            return Status.CHECKSUM;
        }
        DirectoryRecord object = copy.medium() == Medium.SSD
                ? record
                : object(copy.objectId(), copy.key(), copy.payloadLength(), copy.payloadCrc(), copy.retention());
        return write(copy.medium(), copy.authority(), object);
    }

    void unreachable(boolean on) {
        unreachable = on;
    }

    /** From now on the bytes of an object here do not match their checksum. */
    void damage(ObjectId id) {
        damaged.add(id);
    }

    /** From now on its bytes arrive as they are. */
    void undamage(ObjectId id) {
        damaged.remove(id);
    }

    void zone(String name) {
        zone = name;
    }

    private void free(ModelStream stream, Free free) {
        boolean accepted = obedience.obeys(free.authority());
        List<Extent> onSsd = new ArrayList<>();
        for (Extent extent : accepted ? free.extents() : List.<Extent>of()) {
            if (extent.extent().segment() == ExtentRef.SSD) {
                onSsd.add(extent);
            } else {
                free(extent);
            }
        }
        Runnable rest = () -> {
            onSsd.forEach(this::free);
            acknowledge(stream, free.requestId(), accepted, Status.OK);
        };
        if (onSsd.isEmpty()) {
            rest.run();
        } else {
            onSsd(rest);
        }
    }

    private void free(Extent extent) {
        DirectoryRecord record = media.find(extent);
        if (record == null) {
            return;
        }
        media.remove(record);
        if (record.state() == RecordState.COMMITTED) {
            onFree.accept(record);
        }
        change(DirectoryRecord.freed(record.extent(), record.objectId()));
    }
}
