// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.PoolStatus.State;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeCommand.Fence;
import dev.kvpool.dataplane.wire.message.NodeCommand.Free;
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
import org.junit.jupiter.api.Test;

/** Takeovers with more to decide than fits into one turn: the nodes' messages are made here, since there are many. */
class LargeTakeoverTest {
    private static final long CLIENT = 1000;
    private static final Authority OURS = new Authority(6, 1);
    private static final int EXTENT = 4096;

    private final MasterCore core = new MasterCore(
            new CoreSettings("m", 10_000, EvictionRules.between(0.50, 0.90), 1, 5_000, 30_000, 1 << 20),
            Set.of("node-1", "node-2"),
            new Random(1));
    private final List<Message> toNodes = new ArrayList<>();
    private final List<Message> toClient = new ArrayList<>();
    private final Map<Long, Fence> fences = new HashMap<>();
    private long nowMs = 1_000;

    @Test
    void whatIsInDisputeIsDecidedInPartsAndServedWhenAllIsDecided() {
        int keys = 2 * Bounds.SETTLED_PER_TURN;
        core.clientConnected(CLIENT, nowMs);
        show(1, keys, 1);
        show(2, keys, 0);
        core.lead(OURS, nowMs + 1_000_000, nowMs, nowMs);
        obeyed(1, 2);

        assertThat(core.status().state()).isEqualTo(State.RECOVERING);
        assertThat(lookup("k0").status()).as("it answers meanwhile").isEqualTo(Status.RECOVERING);
        tick();
        assertThat(core.status().state()).isEqualTo(State.RECOVERING);
        tick();

        assertThat(core.status().state()).isEqualTo(State.SERVING);
        assertThat(core.status().objects()).isEqualTo(keys);
        assertThat(core.status().unavailableObjects()).isZero();
        for (int i = 0; i < keys; i += 997) {
            assertThat(lookup("k" + i).objects().getFirst().objectId()).isEqualTo(newer(i));
        }
        assertThat(freedAfter(1_000)).isEmpty();
        assertThat(freedAfter(10_000))
                .hasSize(Bounds.FREE_REQUESTS_PER_NODE_MAX * Bounds.FREE_EXTENTS_MAX)
                .allMatch(id -> id.counter() % 2 == 0);
    }

    @Test
    void whatIsNotInDisputeNeedsNoTurn() {
        show(1, 3 * Bounds.SETTLED_PER_TURN, 1);
        show(2, 0, 0);

        core.lead(OURS, nowMs + 1_000_000, nowMs, nowMs);
        obeyed(1, 2);

        assertThat(core.status().state()).isEqualTo(State.SERVING);
        assertThat(core.status().objects()).isEqualTo(3 * Bounds.SETTLED_PER_TURN);
    }

    @Test
    void aNodeThatComesLateIsReliedOnWhenAllItShowsHasBeenDecided() {
        int keys = Bounds.SETTLED_PER_TICK + 100;
        show(1, keys, 1);
        core.lead(OURS, nowMs + 1_000_000, nowMs, nowMs);
        obeyed(1);
        for (int i = 0; i < 11; i++) {
            nowMs += 1_000;
            tell(1, new Heartbeat());
            tick();
        }
        assertThat(core.status().state()).isEqualTo(State.SERVING);

        show(2, keys, 0);
        obeyed(2);
        assertThat(core.status().notReady()).contains("catching up with node node-2");
        tick();

        assertThat(core.status().notReady()).isEmpty();
        assertThat(core.status().objects()).isEqualTo(keys);
        assertThat(core.holders(Key.of("k0"))).containsExactly("node-1");
    }

    @Test
    void theSumsFollowANodeThatWentLittleByLittle() {
        int keys = 3 * Bounds.RECOUNTED_PER_TICK;
        show(1, keys, 1);
        show(2, 0, 0);
        core.lead(OURS, nowMs + 1_000_000, nowMs, nowMs);
        obeyed(1, 2);

        core.closed(1, "gone", nowMs);
        assertThat(core.status().unavailableObjects()).isBetween(1L, (long) Bounds.RECOUNTED_PER_TICK);
        for (int i = 0; i < 8; i++) {
            tick();
        }

        assertThat(core.status().unavailableObjects()).isEqualTo(keys);
    }

    /** Node 1 held so many keys and is about to be forgotten; node 2 stays. */
    private void firstNodeIsGoneForGood(int keys) {
        show(1, keys, 1);
        show(2, 0, 0);
        core.lead(OURS, nowMs + 1_000_000, nowMs, nowMs);
        obeyed(1, 2);
        core.expectNodes(Map.of("node-2", ""), nowMs);
        core.closed(1, "gone", nowMs);
        nowMs += Bounds.UNEXPECTED_AWAY_MS;
        tell(2, new Heartbeat());
    }

    @Test
    void aNodeThatIsGoneForGoodIsForgottenLittleByLittle() {
        int keys = 3 * Bounds.FORGOTTEN_PER_TICK;
        firstNodeIsGoneForGood(keys);
        tick();
        assertThat(core.status().objects()).isEqualTo(keys - Bounds.FORGOTTEN_PER_TICK);
        tick();
        tick();
        assertThat(core.status().objects()).isZero();
        assertThat(core.status().nodes()).hasSize(1);
    }

    @Test
    void aNodeThatComesBackWhileItIsForgottenIsKnownAgain() {
        int keys = 3 * Bounds.FORGOTTEN_PER_TICK;
        firstNodeIsGoneForGood(keys);
        tick();
        tick();

        show(1, keys, 1);
        obeyed(1);
        for (int i = 0; i < 12; i++) {
            tick();
        }
        assertThat(core.status().objects()).isEqualTo(keys);
        assertThat(core.status().unavailableObjects()).isZero();
        assertThat(core.status().nodes()).hasSize(2);
    }

    @Test
    void manyTombstonesAreGoneThroughInParts() {
        int keys = 2 * Bounds.SETTLED_PER_TURN;
        core.clientConnected(CLIENT, nowMs);
        show(1, keys, 0);
        bury(2, keys);
        core.lead(OURS, nowMs + 1_000_000, nowMs, nowMs);
        obeyed(1, 2);

        assertThat(core.status().state()).as("half of them are gone through").isEqualTo(State.RECOVERING);
        tick();

        assertThat(core.status().state()).isEqualTo(State.SERVING);
        assertThat(core.status().objects()).isZero();
        assertThat(core.status().tombstones()).isEqualTo(keys);
    }

    @Test
    void whatATermHasGivenUpIsReconsideredInPartsBeforeTheNextServes() {
        int keys = 2 * Bounds.SETTLED_PER_TURN;
        core.clientConnected(CLIENT, nowMs);
        show(1, keys, 1);
        show(2, keys, 0);
        core.lead(OURS, nowMs + 1_000_000, nowMs, nowMs);
        obeyed(1, 2);
        tick();
        tick();
        assertThat(core.status().state()).isEqualTo(State.SERVING);

        Authority again = new Authority(7, 1);
        core.lead(again, nowMs + 1_000_000, nowMs, nowMs);
        obeyed(again, 1, 2);
        int turns = 0;
        while (core.status().state() != State.SERVING && turns < 20) {
            tick();
            turns++;
        }

        assertThat(turns).as("two to reconsider, two to decide").isBetween(3, 6);
        assertThat(core.status().objects()).isEqualTo(keys);
        for (int i = 0; i < keys; i += 997) {
            assertThat(lookup("k" + i).objects().getFirst().objectId()).isEqualTo(newer(i));
        }
    }

    private static ObjectId newer(int i) {
        return new ObjectId(5, 2L * i + 1);
    }

    /** A node connects and sends a directory with one object of each key, with an odd id or an even, older one. */
    private void show(int node, int keys, int odd) {
        List<DirectoryRecord> lines = new ArrayList<>();
        for (int i = 0; i < keys; i++) {
            ExtentRef extent = new ExtentRef(0, i, 1);
            ObjectId id = new ObjectId(5, 2L * i + odd);
            lines.add(DirectoryRecord.committed(extent, id, (long) i * EXTENT, EXTENT, 100, i, Key.of("k" + i)));
        }
        show(node, lines);
    }

    /** The same with a tombstone of each key, which covers both. */
    private void bury(int node, int keys) {
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

    private void show(int node, List<DirectoryRecord> lines) {
        core.nodeConnected(node, new NodePeer("node-" + node, 77 + node, "test"), nowMs);
        Segment segment = new Segment(0, Medium.DRAM, 1L << 40, 1 << 20);
        tell(
                node,
                new NodeInfo(
                        Authority.NONE,
                        ObjectId.NONE,
                        0,
                        ObjectId.NONE,
                        false,
                        Restored.NOTHING,
                        List.of(segment),
                        "10.0.0." + node + ":50061",
                        "",
                        ""));
        tell(node, new SnapshotBegin(0));
        tell(node, new SnapshotRecords(lines));
        tell(node, new SnapshotEnd(lines.size(), 0));
    }

    /** Nodes answer the fence that each was sent last. */
    private void obeyed(int... nodes) {
        obeyed(OURS, nodes);
    }

    private void obeyed(Authority authority, int... nodes) {
        drain();
        for (int node : nodes) {
            Fence fence = fences.get((long) node);
            tell(node, new FenceAck(fence.requestId(), true, authority, 77 + node, 0, 0, ObjectId.NONE));
        }
    }

    private void tick() {
        nowMs += 10;
        core.tick(nowMs);
        drain();
    }

    private LookupReply lookup(String key) {
        core.receive(CLIENT, new LookupRequest(1, List.of(Key.of(key))), nowMs);
        drain();
        return (LookupReply) toClient.getLast();
    }

    /** The objects whose extents the nodes are told to free after a while. */
    private List<ObjectId> freedAfter(long ms) {
        nowMs += ms;
        tell(1, new Heartbeat());
        tell(2, new Heartbeat());
        toNodes.clear();
        tick();
        List<ObjectId> freed = new ArrayList<>();
        for (Message message : toNodes) {
            if (message instanceof Free free) {
                free.extents().forEach(extent -> freed.add(extent.objectId()));
            }
        }
        return freed;
    }

    private void tell(long session, Message message) {
        core.receive(session, message, nowMs);
    }

    private void drain() {
        for (Action action : core.drain()) {
            if (action instanceof Action.Send(long session, Message message)) {
                (session == CLIENT ? toClient : toNodes).add(message);
                if (message instanceof Fence fence) {
                    fences.put(session, fence);
                }
            }
        }
    }
}
