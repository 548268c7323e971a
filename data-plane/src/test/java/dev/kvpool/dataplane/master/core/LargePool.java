// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.dataplane.wire.message.NodeCommand.Fence;
import dev.kvpool.dataplane.wire.message.NodeCommand.Free;
import dev.kvpool.dataplane.wire.message.NodeMessage.Changes;
import dev.kvpool.dataplane.wire.message.NodeMessage.CommandAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.FenceAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.Restored;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotBegin;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotRecords;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Medium;
import dev.kvpool.wire.RecordState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A master whose nodes are many, or hold more than one turn has time for: their messages are made here, since there are many. */
final class LargePool {
    static final long CLIENT = 10_000;
    static final Authority OURS = new Authority(6, 1);
    private static final int EXTENT = 4096;

    private record Sent(long session, Message message) {}

    final MasterCore core;
    private final List<Sent> toNodes = new ArrayList<>();
    private final List<Message> toClient = new ArrayList<>();
    private final Map<Long, Fence> fences = new HashMap<>();

    /** Of the latest change that a node has told. */
    private final Map<Long, Long> sequences = new HashMap<>();

    /** What the Lease is to hold at the next tick. */
    private final List<Register> toStore = new ArrayList<>();

    /** It has both nodes with what they hold, so that nothing is to be written while turns are counted. */
    static final Register REGISTER = Register.NONE
            .enrolled(Set.of("node-1", "node-2"))
            .in("node-1", 1, 0)
            .in("node-2", 1, 0)
            .as(1);

    long nowMs = 1_000;

    LargePool() {
        this(2);
    }

    /** Nodes are expected from the first to this one. */
    LargePool(int nodes) {
        core = new MasterCore(
                PlainSettings.of("m", 10_000, EvictionRules.between(0.50, 0.90), 1, 30_000, 1 << 20),
                IntStream.rangeClosed(1, nodes).mapToObj(i -> "node-" + i).collect(Collectors.toSet()),
                new Random(1),
                new Random(1));
    }

    static ObjectId newer(int i) {
        return new ObjectId(5, 2L * i + 3);
    }

    /** A node connects and sends a directory with one object of each key, with an odd id or an even, older one. */
    void show(int node, int keys, int odd) {
        List<DirectoryRecord> lines = new ArrayList<>();
        for (int i = 0; i < keys; i++) {
            ExtentRef extent = new ExtentRef(0, i, 1);
            ObjectId id = new ObjectId(5, 2L * i + 2 + odd);
            lines.add(DirectoryRecord.committed(extent, id, (long) i * EXTENT, EXTENT, 100, i, Key.of("k" + i)));
        }
        show(node, lines);
    }

    /** The same with a tombstone of each key, which covers both. */
    void writeTombstone(int node, int keys) {
        List<DirectoryRecord> lines = new ArrayList<>();
        for (int i = 0; i < keys; i++) {
            ExtentRef extent = new ExtentRef(0, i, 1);
            lines.add(new DirectoryRecord(
                    RecordState.TOMBSTONE,
                    extent,
                    newer(i),
                    (long) i * EXTENT,
                    64,
                    0,
                    0,
                    Retention.NONE,
                    Key.of("k" + i)));
        }
        show(node, lines);
    }

    /** The same objects in as much memory as they fill, if they are there at all, and on an SSD that they fill. */
    void showOnSsd(int node, int keys, boolean alsoInMemory) {
        List<DirectoryRecord> lines = new ArrayList<>();
        for (int i = 0; i < keys; i++) {
            long offset = (long) i * EXTENT;
            ObjectId id = new ObjectId(5, i + 1);
            Key key = Key.of("k" + i);
            if (alsoInMemory) {
                lines.add(DirectoryRecord.committed(new ExtentRef(0, i, 1), id, offset, EXTENT, 100, i, key));
            }
            lines.add(DirectoryRecord.committed(new ExtentRef(1, i, 1), id, offset, EXTENT, 100, i, key));
        }
        long bytes = (long) keys * EXTENT;
        Segment memory = new Segment(ExtentRef.MEMORY, Medium.DRAM, bytes, 1 << 20);
        // Where memory is what has to lose something, the SSD has room for twice as much.
        Segment ssd = new Segment(ExtentRef.SSD, Medium.SSD, alsoInMemory ? 2 * bytes : bytes, 1 << 20);
        show(node, lines, List.of(memory, ssd));
    }

    void show(int node, List<DirectoryRecord> lines) {
        show(node, lines, List.of(new Segment(ExtentRef.MEMORY, Medium.DRAM, 1L << 40, 1 << 20)));
    }

    private void show(int node, List<DirectoryRecord> lines, List<Segment> segments) {
        core.nodeConnected(node, new NodePeer("node-" + node, 77 + node, "test"), nowMs);
        sequences.remove((long) node);
        tell(
                node,
                new NodeInfo(
                        Authority.NONE,
                        ObjectId.NONE,
                        0,
                        ObjectId.NONE,
                        false,
                        Restored.NOTHING,
                        1,
                        ActiveVersions.UNKNOWN,
                        segments,
                        "10.0.0." + node + ":50061",
                        "",
                        ""));
        tell(node, new SnapshotBegin(0));
        tell(node, new SnapshotRecords(lines));
        tell(node, new SnapshotEnd(lines.size(), 0));
    }

    /** Nodes answer the fence that each was sent last. */
    void obeyed(int... nodes) {
        obeyed(OURS, nodes);
    }

    void obeyed(Authority authority, int... nodes) {
        drain();
        for (int node : nodes) {
            Fence fence = fences.get((long) node);
            tell(node, new FenceAck(fence.requestId(), true, authority, 77 + node, 0, 0, ObjectId.NONE));
        }
    }

    void tick() {
        nowMs += 10;
        toStore.forEach(it -> core.registerStored(it, nowMs));
        toStore.clear();
        core.tick(nowMs);
        drain();
    }

    LookupReply lookup(String key) {
        return (LookupReply) ask(new LookupRequest(1, List.of(Key.of(key)))).getLast();
    }

    /** What is answered at once. */
    List<Message> ask(ClientRequest request) {
        toClient.clear();
        core.receive(CLIENT, request, nowMs);
        drain();
        return toClient;
    }

    /** The objects whose extents the nodes are told to free after a while; they do not answer. */
    List<ObjectId> freedAfter(long ms) {
        return freeCommandsAfter(ms).stream()
                .flatMap(sent -> ((Free) sent.message).extents().stream())
                .map(Extent::objectId)
                .toList();
    }

    /** The extents that the nodes are told to free after a while, and free at once. */
    List<Extent> freesAfter(long ms) {
        List<Extent> freed = new ArrayList<>();
        for (Sent sent : freeCommandsAfter(ms)) {
            Free free = (Free) sent.message;
            freed.addAll(free.extents());
            free(sent.session, free);
        }
        return freed;
    }

    private List<Sent> freeCommandsAfter(long ms) {
        nowMs += ms;
        tell(1, new Heartbeat());
        tell(2, new Heartbeat());
        toNodes.clear();
        tick();
        return toNodes.stream().filter(sent -> sent.message instanceof Free).toList();
    }

    private void free(long session, Free free) {
        List<DirectoryRecord> records = free.extents().stream()
                .map(extent -> DirectoryRecord.freed(extent.extent(), extent.objectId()))
                .toList();
        long before = sequences.getOrDefault(session, 0L);
        sequences.put(session, before + records.size());
        tell(session, new Changes(before + 1, records));
        tell(session, new CommandAck(free.requestId(), true, free.authority(), Status.OK));
    }

    void tell(long session, Message message) {
        core.receive(session, message, nowMs);
    }

    private void drain() {
        for (Action action : core.drain()) {
            if (action instanceof Action.StoreRegister it) {
                toStore.add(it.register());
            }
            if (action instanceof Action.Send(long session, Message message)) {
                if (session == CLIENT) {
                    toClient.add(message);
                } else {
                    toNodes.add(new Sent(session, message));
                }
                if (message instanceof Fence fence) {
                    fences.put(session, fence);
                }
            }
        }
    }
}
