// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.Objection;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.master.core.report.PoolStatus.NodeState;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeMessage.Changes;
import dev.kvpool.dataplane.wire.message.NodeMessage.FenceAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.Restored;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotBegin;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotRecords;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.NativeNode;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Medium;
import dev.kvpool.wire.RefusalCode;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class MembershipTest {
    private static final long MIB = 1 << 20;
    private static final NodePeer PEER = new NodePeer("a", 1, "0.1.0");

    /** More than a node is left out for that broke the rules. */
    private static final long LET_IN_AGAIN_MS = 100_000;

    private long nowMs;

    private final MasterCore core = new MasterCore(
            PlainSettings.of("m", 10_000, 0.9, 0.8, 1, 30_000, 1 << 28),
            Set.of("a"),
            RandomGenerator.getDefault(),
            RandomGenerator.getDefault());

    @Test
    void aNodeThatReturnsBringsItsObjectsBack() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        pool.node("a").crash();
        pool.world.run(0);
        assertThat(pool.find("k").status()).isEqualTo(Status.UNAVAILABLE);

        pool.node("a").start();
        pool.node("a").dial(pool.talkedTo());
        pool.world.run(0);

        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
        assertThat(pool.lookup("k").nodes().getFirst().incarnation())
                .isEqualTo(pool.node("a").incarnation());
    }

    @Test
    void aNodeThatReturnsEmptyIsBelievedEvenWhereGenerationsBeginAnew() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        for (int i = 0; i < 5; i++) {
            pool.put("old" + i, 100);
        }
        pool.node("a").crash();
        pool.node("a").wipe();
        pool.node("a").start();
        pool.node("a").dial(pool.talkedTo());
        pool.world.run(0);

        assertThat(pool.put("new", 100)).isEqualTo(Status.OK);

        assertThat(pool.find("new").status()).isEqualTo(Status.OK);
        assertThat(pool.find("old0").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void aLeaderTellsWhatANodeHasLostWhenItComesBack() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        pool.put("l", 100);
        assertThat(lostAtReturn(pool)).isEmpty();

        restart(pool);
        assertThat(lostAtReturn(pool)).hasValue(0);

        pool.node("a").crash();
        pool.node("a").wipe();
        pool.node("a").start();
        pool.node("a").dial(pool.talkedTo());
        pool.world.run(1_000);
        assertThat(lostAtReturn(pool)).hasValue(2);
    }

    @Test
    void whatWasRemovedWhileANodeWasStoppingIsNoLoss() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        pool.put("l", 100);
        pool.node("a").crash();
        pool.world.run(0);
        assertThat(pool.put("k", 200)).isNotEqualTo(Status.OK);
        pool.node("a").start();
        pool.node("a").dial(pool.talkedTo());
        pool.world.run(1_000);

        assertThat(lostAtReturn(pool)).hasValue(0);
    }

    private static void restart(Scenario pool) {
        pool.node("a").crash();
        pool.world.run(0);
        pool.node("a").start();
        pool.node("a").dial(pool.talkedTo());
        pool.world.run(1_000);
    }

    private static OptionalLong lostAtReturn(Scenario pool) {
        return pool.talkedTo()
                .status()
                .nodes()
                .getFirst()
                .contents()
                .orElseThrow()
                .lostAtReturn();
    }

    @Test
    void aPutSupersedesWhatIsUnavailable() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        pool.put("k", 100);
        String holder = pool.lookup("k").nodes().getFirst().nodeId();
        ModelNode away = pool.node(holder);
        away.crash();
        pool.world.run(0);

        assertThat(pool.put("k", 200)).isEqualTo(Status.OK);
        away.start();
        away.dial(pool.talkedTo());
        pool.world.run(Scenario.OBJECT_LEASE_MS + 100);

        assertThat(pool.find("k").payloadLength()).isEqualTo(200);
        assertThat(away.directory()).isEmpty();
    }

    @Test
    void theMemoryOfATransientNodeIsForgottenSoonAfterIt() {
        Scenario pool = new Scenario();
        ModelNode embedded = pool.transientNode("engine", MIB);
        pool.leading(7);
        pool.put("k", 100);
        embedded.crash();

        pool.world.run(Bounds.TRANSIENT_AWAY_MS + 1_000);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.talkedTo().status().nodes()).isEmpty();
    }

    @Test
    void aNodeThatOnlyConnectedIsForgottenAsSoonAsATransientOne() {
        assertThat(core.nodeConnected(1, new NodePeer("engine", 1, "0.1.0"), 0)).isEmpty();
        core.closed(1, "connection reset", 100);
        assertThat(core.status().nodes()).anyMatch(node -> node.id().equals("engine"));

        core.tick(100 + Bounds.TRANSIENT_AWAY_MS + Bounds.HEARTBEAT_MS);

        assertThat(core.status().nodes()).noneMatch(node -> node.id().equals("engine"));
    }

    @Test
    void aStorageNodeThatNamesNoPoolIsRefusedWithTheRemedy() {
        Objection objection = core.nodeConnected(1, new NodePeer("a", 1, "0.1.0", false, Optional.empty()), 0)
                .orElseThrow();

        assertThat(objection.code()).isEqualTo(RefusalCode.POOL_MISMATCH);
        assertThat(objection.message()).contains("node a names no pool", "--pool-id");
    }

    @Test
    void onlyMemoryWithinAnEngineMayLeaveThePoolToTheMaster() {
        NodePeer nameless = new NodePeer("engine", 1, "0.1.0", false, Optional.empty());
        assertThat(core.nodeConnected(1, nameless, 0)).isEmpty();

        core.receive(1, info(Authority.NONE), 0);

        assertThat(closed()).containsExactly(1L);
    }

    @Test
    void aSecondProcessWithTheSameIdIsRefusedWhileTheFirstIsAlive() {
        assertThat(core.nodeConnected(1, PEER, 0)).isEmpty();

        Objection objection =
                core.nodeConnected(2, new NodePeer("a", 2, "0.1.0"), 900).orElseThrow();

        assertThat(objection.message()).contains("node id a is in use", "0000000000000001", "0000000000000002");
        assertThat(core.nodeConnected(3, new NodePeer("a", 2, "0.1.0"), 1_100)).isEmpty();
        assertThat(core.drain())
                .contains(new Action.Close(
                        1, "a newer connection of " + new NodePeer("a", 2, "0.1.0") + " replaces this one"));
    }

    @Test
    void aSecondConnectionOfTheSameProcessReplacesTheFirst() {
        core.nodeConnected(1, PEER, 0);

        assertThat(core.nodeConnected(2, PEER, 10)).isEmpty();

        assertThat(closed()).containsExactly(1L);
    }

    @Test
    void aSilentNodeIsAway() {
        core.nodeConnected(1, PEER, 0);

        core.tick(3_500);

        assertThat(closed()).containsExactly(1L);
        assertThat(core.status().nodes().getFirst().state()).isEqualTo(NodeState.AWAY);
        assertThat(core.status().nodes().getFirst().reason()).contains("silent");
    }

    @Test
    void aRefusedNodeIsShownWithItsReason() {
        core.nodeRefused("a", new Objection(RefusalCode.WIRE_VERSION, "speaks wire 9"));
        core.nodeRefused("stranger", new Objection(RefusalCode.POOL_MISMATCH, "not ours"));

        assertThat(core.status().nodes()).hasSize(1);
        assertThat(core.status().nodes().getFirst().state()).isEqualTo(NodeState.REFUSED);
        assertThat(core.status().nodes().getFirst().reason()).isEqualTo("speaks wire 9");
    }

    @Test
    void aGapInTheStreamEndsTheConnection() {
        streaming();

        core.receive(1, new Changes(12, List.of(record(1, 1))), 0);

        assertThat(closed()).containsExactly(1L);
        assertThat(core.status().nodes().getFirst().reason()).contains("gap", "12 instead of 11");
    }

    @Test
    void aSnapshotThatDoesNotAddUpEndsTheConnection() {
        connected();
        core.receive(1, new SnapshotBegin(10), 0);
        core.receive(1, new SnapshotRecords(List.of(record(1, 1))), 0);

        core.receive(1, new SnapshotEnd(2, 10), 0);

        assertThat(closed()).containsExactly(1L);
    }

    @Test
    void recordsOutOfRangeEndTheConnection() {
        DirectoryRecord good = record(1, 1);
        List<DirectoryRecord> bad = List.of(
                DirectoryRecord.committed(new ExtentRef(3, 1, 1), good.objectId(), 0, 128, 64, 0, good.key()),
                DirectoryRecord.committed(good.extent(), good.objectId(), 0, 128, -1, 0, good.key()),
                DirectoryRecord.committed(good.extent(), good.objectId(), 0, 64, 128, 0, good.key()),
                DirectoryRecord.committed(good.extent(), good.objectId(), -64, 128, 64, 0, good.key()),
                DirectoryRecord.committed(good.extent(), good.objectId(), 0, 2 * MIB, 64, 0, good.key()),
                DirectoryRecord.committed(good.extent(), good.objectId(), 0, 128, 64, 0, Key.of("")));
        for (DirectoryRecord record : bad) {
            streaming();

            core.receive(1, new Changes(11, List.of(record)), nowMs);

            assertThat(closed()).as("%s", record).containsExactly(1L);
            nowMs += LET_IN_AGAIN_MS;
        }
    }

    @Test
    void messagesOutOfPlaceEndTheConnection() {
        List<Message> early = List.of(
                new SnapshotBegin(0),
                new SnapshotRecords(List.of()),
                new Changes(1, List.of()),
                new SnapshotEnd(0, 0),
                new FenceAck(1, true, Authority.NONE, 1, 0, 0, ObjectId.NONE));
        for (Message message : early) {
            core.nodeConnected(1, PEER, nowMs);

            core.receive(1, message, nowMs);

            assertThat(closed()).as("%s", message).containsExactly(1L);
            nowMs += LET_IN_AGAIN_MS;
        }
    }

    @Test
    void anEpochThatNoLeaseCanHoldIsRefused() {
        core.nodeConnected(1, PEER, 0);

        core.receive(1, info(new Authority(1L << 40, 1)), 0);

        assertThat(closed()).containsExactly(1L);
        assertThat(core.status().highestEpoch()).isZero();
    }

    @Test
    void aSegmentThatNoIndexCanFollowIsRefused() {
        core.nodeConnected(1, PEER, 0);

        core.receive(1, info(Authority.NONE, NativeNode.SEGMENT_BYTES_MAX + 4096), 0);

        assertThat(closed()).containsExactly(1L);
    }

    @Test
    void aFenceAnsweredBeforeItsPlaceInTheStreamEndsTheConnection() {
        streaming();
        core.lead(new Authority(5, 5), 10_000, 5_000, Register.NONE, 0);
        core.drain();

        core.receive(1, new FenceAck(1, true, new Authority(5, 5), 1, 99, 0, ObjectId.NONE), 0);

        assertThat(closed()).containsExactly(1L);
    }

    @Test
    void aClientThatSpeaksAsANodeIsEnded() {
        core.clientConnected(1, 0);

        core.receive(1, new SnapshotBegin(1), 0);

        assertThat(closed()).containsExactly(1L);
        core.receive(1, new Heartbeat(), 0);
        assertThat(core.drain()).isEmpty();
    }

    private void connected() {
        core.nodeConnected(1, PEER, nowMs);
        core.receive(1, info(Authority.NONE), nowMs);
        core.drain();
    }

    private void streaming() {
        connected();
        core.receive(1, new SnapshotBegin(10), nowMs);
        core.receive(1, new SnapshotEnd(0, 10), nowMs);
        core.drain();
    }

    private List<Long> closed() {
        return core.drain().stream()
                .filter(Action.Close.class::isInstance)
                .map(action -> ((Action.Close) action).session())
                .toList();
    }

    private static NodeInfo info(Authority seen) {
        return info(seen, MIB);
    }

    private static NodeInfo info(Authority seen, long capacityBytes) {
        return new NodeInfo(
                seen,
                ObjectId.NONE,
                0,
                ObjectId.NONE,
                false,
                Restored.NOTHING,
                1,
                ActiveVersions.UNKNOWN,
                List.of(new Segment(0, Medium.DRAM, capacityBytes, 100)),
                "a:50061",
                "",
                "");
    }

    private static DirectoryRecord record(long slot, long generation) {
        return DirectoryRecord.committed(
                new ExtentRef(0, slot, generation), new ObjectId(1, slot), 0, 128, 64, 0, Key.of("k" + slot));
    }

    @Test
    void whatOnlyARefusedVersionHoldsIsMissedForItsVersion() {
        Scenario pool = new Scenario().withNodes(1 << 20, "a", "b").leading(7);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        MasterCore core = pool.talkedTo().core();
        String holder = core.holders(Key.of("k")).getFirst();
        pool.crash(holder);
        assertThat(pool.find("k").status()).isEqualTo(Status.UNAVAILABLE);
        assertThat(misses(core, Count.LOOKUP_UNAVAILABLE)).isEqualTo(1);

        core.nodeRefused(holder, new Objection(RefusalCode.WIRE_VERSION, "knows wire version 7-9"));
        assertThat(pool.find("k").status()).isEqualTo(Status.UNAVAILABLE);
        assertThat(misses(core, Count.LOOKUP_VERSION)).isEqualTo(1);
        assertThat(misses(core, Count.LOOKUP_UNAVAILABLE)).isEqualTo(1);
        assertThat(pool.exists("k")).isEqualTo(Status.NOT_FOUND);
        assertThat(misses(core, Count.EXISTS_VERSION)).isEqualTo(1);

        pool.restart(holder);
        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
        assertThat(misses(core, Count.LOOKUP_VERSION)).isEqualTo(1);
    }

    private static long misses(MasterCore core, Count reason) {
        return core.status().counters().get(reason);
    }
}
