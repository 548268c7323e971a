// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Copies that are missing are made anew, bounded and hottest first; those too many are freed. */
class RepairTest {
    private static final long MIB = 1 << 20;

    /** Two copies of each of "k0", "k1" ... */
    private static Scenario filled(int keys, long payload, String... nodes) {
        Scenario pool = new Scenario().withNodes(4 * MIB, nodes).withReplicas(2).leading(7);
        for (int i = 0; i < keys; i++) {
            assertThat(pool.put("k" + i, payload)).isEqualTo(Status.OK);
        }
        return pool;
    }

    private static long copies(Scenario pool, String key) {
        return pool.nodes.values().stream()
                .filter(ModelNode::isUp)
                .filter(node -> node.directory().stream()
                        .anyMatch(record -> record.key().toString().equals(key)))
                .count();
    }

    private static long count(Scenario pool, Count what) {
        return pool.talkedTo().status().counters().get(what);
    }

    @Test
    void aNodeAwayForLongHasItsCopiesMadeElsewhere() {
        Scenario pool = filled(30, 100, "a", "b", "c");
        pool.crash("a");
        assertThat(pool.talkedTo().status().underReplicatedObjects()).isPositive();

        pool.world.run(Scenario.REPAIR_DELAY_MS + 2_000);

        for (int i = 0; i < 30; i++) {
            assertThat(copies(pool, "k" + i)).isEqualTo(2);
        }
        assertThat(pool.talkedTo().status().underReplicatedObjects()).isZero();
    }

    @Test
    void aNodeAwayForAShortTimeCausesNothing() {
        Scenario pool = filled(30, 100, "a", "b", "c");
        pool.crash("a");
        pool.world.run(Scenario.REPAIR_DELAY_MS - 1_000);
        pool.restart("a");
        pool.world.run(10_000);

        assertThat(count(pool, Count.COPIES_STARTED)).isZero();
        assertThat(pool.talkedTo().status().underReplicatedObjects()).isZero();
    }

    @Test
    void whatIsTooManyAfterAReturnIsFreed() {
        Scenario pool = filled(30, 100, "a", "b", "c");
        pool.crash("a");
        pool.world.run(Scenario.REPAIR_DELAY_MS + 2_000);

        pool.restart("a");
        pool.world.run(5_000);

        for (int i = 0; i < 30; i++) {
            assertThat(copies(pool, "k" + i)).isEqualTo(2);
        }
        assertThat(pool.talkedTo().status().overReplicatedObjects()).isZero();
        assertThat(count(pool, Count.TRIMMED)).isPositive();
    }

    @Test
    void aCopyThatAReaderMayUseIsFreedWhenItsLeaseHasEnded() {
        Scenario pool = filled(1, 100, "a", "b", "c");
        String holder = pool.talkedTo().core().holders(Key.of("k0")).getFirst();
        pool.crash(holder);
        pool.world.run(Scenario.REPAIR_DELAY_MS + 2_000);
        pool.restart(holder);
        pool.talkTo(pool.talkedTo());
        assertThat(pool.find("k0").replicas()).hasSize(3);

        pool.world.run(5_000);
        assertThat(copies(pool, "k0")).isEqualTo(3);
        pool.world.run(Scenario.OBJECT_LEASE_MS + Bounds.REPAIR_REST_MS_MAX);
        assertThat(copies(pool, "k0")).isEqualTo(2);
    }

    @Test
    void fewerNodesThanCopiesIsSuccessAndIsMadeGoodWhenANodeComes() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        pool.crash("b");
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        assertThat(pool.talkedTo().status().underReplicatedObjects()).isEqualTo(1);

        pool.restart("b");
        pool.world.run(2_000);

        assertThat(copies(pool, "k")).isEqualTo(2);
        assertThat(pool.talkedTo().status().underReplicatedObjects()).isZero();
    }

    @Test
    void thisIsAlsoTrueForWhatAFormerLeaderLeft() {
        Scenario pool = filled(30, 100, "a", "b", "c");
        pool.crash("a");

        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS + Scenario.REPAIR_DELAY_MS + 2_000);

        for (int i = 0; i < 30; i++) {
            assertThat(copies(pool, "k" + i)).isEqualTo(2);
        }
    }

    @Test
    void theHottestObjectsComeFirstAndTheRateIsKept() {
        Scenario pool = filled(16, 200_000, "a", "b", "c");
        pool.find("k3");
        pool.crash("a");
        boolean lost = copies(pool, "k3") < 2;
        long lacking = pool.talkedTo().status().underReplicatedObjects();
        pool.world.run(Scenario.REPAIR_DELAY_MS);

        // A tenth of a second's bytes may go at once, and one object may overdraw that.
        pool.world.run(100);
        assertThat(count(pool, Count.COPIES_STARTED)).isBetween(1L, 4L);
        assertThat(lost && copies(pool, "k3") < 2).isFalse();

        pool.world.run(1_000 * lacking * 200_000 / Scenario.REPAIR_BYTES_PER_SECOND + 3_000);
        assertThat(pool.talkedTo().status().underReplicatedObjects()).isZero();
    }

    @Test
    void copiesUnderWayAreBounded() {
        Scenario pool = filled(60, 100, "a", "b", "c");
        pool.crash("a");
        pool.node("b").mute(true);
        pool.node("c").mute(true);
        pool.node("b").heartbeatEvery(500);
        pool.node("c").heartbeatEvery(500);

        pool.world.run(Scenario.REPAIR_DELAY_MS + 2_000);

        assertThat(pool.talkedTo().status().copiesUnderWay()).isBetween(1, 2 * Bounds.COPIES_PER_NODE_MAX);
    }

    @Test
    void aDamagedCopyIsNotTakenWhenThereIsAnother() {
        Scenario pool =
                new Scenario().withNodes(MIB, "a", "b", "c").withReplicas(3).leading(7);
        pool.put("k", 100);
        ObjectId id = pool.find("k").objectId();
        pool.crash("c");
        pool.node("c").wipe();
        pool.node("a").damage(id);
        pool.restart("c");
        pool.world.run(10_000);

        assertThat(copies(pool, "k")).isEqualTo(3);
        assertThat(count(pool, Count.COPIES_DAMAGED)).isLessThanOrEqualTo(1);
    }

    @Test
    void anObjectWhoseBytesChangedOnTheWayIsCopiedLater() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        pool.put("k", 100);
        ObjectId id = pool.find("k").objectId();
        pool.crash("b");
        pool.node("b").wipe();
        pool.node("a").damage(id);
        pool.restart("b");
        pool.world.run(10_000);
        assertThat(count(pool, Count.COPIES_DAMAGED)).isEqualTo(1);

        pool.node("a").undamage(id);
        pool.world.run(Bounds.UNREADABLE_MS);

        assertThat(copies(pool, "k")).isEqualTo(2);
        assertThat(count(pool, Count.COPIES_DAMAGED)).isEqualTo(1);
    }

    @Test
    void aRemovalWaitsForTheCopyThatIsUnderWay() {
        Scenario pool =
                new Scenario().withNodes(MIB, "a", "b", "c").withReplicas(2).leading(7);
        pool.crash("c");
        pool.put("k", 100);
        pool.crash("b");
        pool.node("b").wipe();
        pool.restart("c");
        pool.node("c").mute(true);
        pool.restart("b");
        pool.node("b").mute(true);
        pool.world.run(2_000);
        assertThat(pool.talkedTo().status().copiesUnderWay()).isEqualTo(1);

        long request = pool.beginRemoval("k", true);
        assertThat(pool.isAnswered(request)).isFalse();

        pool.node("c").mute(false);
        pool.node("b").mute(false);
        pool.world.run(10);
        assertThat(pool.reply(request, RemoveReply.class).results()).containsExactly(Status.OK);
        assertThat(copies(pool, "k")).isZero();
    }

    /** A put under the same key that is let in while the copy is waited for stays. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRemovalThatWaitsForACopyIsWrittenDownWhenItsNodeIsGone(boolean putMeanwhile) {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        pool.crash("b");
        pool.put("k", 100);
        pool.restart("b");
        pool.node("b").mute(true);
        pool.world.run(2_000);
        assertThat(pool.talkedTo().status().copiesUnderWay()).isEqualTo(1);
        long request = pool.beginRemoval("k", true);
        if (putMeanwhile) {
            assertThat(pool.put("k", 200)).isEqualTo(Status.OK);
        }

        pool.crash("b");

        pool.world.run(10_000);
        assertThat(pool.reply(request, RemoveReply.class).results()).containsExactly(Status.OK);
        assertThat(pool.find("k").payloadLength()).isEqualTo(putMeanwhile ? 200 : 0);
        assertThat(pool.node("a").directory()).hasSize(putMeanwhile ? 1 : 0);
    }

    @Test
    void aCopyThatArrivesWhenItsObjectIsGoneIsFreed() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);

        // The object of a former epoch was evicted between the command and this commit.
        pool.node("b").write(Scenario.authority(8), new ObjectId(7, 99), Key.of("k"), 100, 1);
        pool.world.run(0);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(count(pool, Count.COPIES_LOST)).isEqualTo(1);
        pool.world.run(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);
        assertThat(pool.node("b").directory()).isEmpty();
    }

    @Test
    void copiesLieInTheZonesThatTheConfigurationNames() {
        Scenario pool = new Scenario().withNodes(4 * MIB, "a", "b", "c").withReplicas(2);
        pool.node("a").zone("west");
        pool.leading(7);
        pool.expect(Map.of("a", "east", "b", "east", "c", "west"));

        for (int i = 0; i < 20; i++) {
            assertThat(pool.grant("k" + i, 100).nodes())
                    .anyMatch(node -> node.nodeId().equals("c"));
        }
    }

    /** Where a new node runs is said a minute later than that it is expected, at the earliest. */
    @Test
    void aNodeWhoseZoneIsSaidLaterTakesCopiesWhenItIs() {
        Scenario pool = new Scenario().withNodes(4 * MIB, "a", "b", "c").withReplicas(2);
        pool.leading(7);
        pool.expect(Map.of("a", "east", "b", "west", "c", ""));

        for (int i = 0; i < 20; i++) {
            assertThat(pool.grant("early" + i, 100).nodes())
                    .extracting(node -> node.nodeId())
                    .containsExactlyInAnyOrder("a", "b");
        }
        pool.expect(Map.of("a", "east", "b", "west", "c", "west"));
        assertThat(IntStream.range(0, 20))
                .anyMatch(i -> pool.grant("late" + i, 100).nodes().stream()
                        .anyMatch(node -> node.nodeId().equals("c")));
    }

    @Test
    void copiesThatTurnOutToLieInOneZoneAreSpread() {
        Scenario pool = new Scenario().withNodes(4 * MIB, "a", "b", "c").withReplicas(2);
        pool.leading(7);
        pool.expect(Map.of("a", "one", "b", "two", "c", "three"));
        for (int i = 0; i < 20; i++) {
            pool.put("k" + i, 100);
        }
        pool.world.run(60_000);

        pool.expect(Map.of("a", "east", "b", "east", "c", "west"));
        pool.world.run(60_000);

        assertThat(pool.node("c").directory()).hasSize(20);
    }

    @Test
    void whatWasPutWhileTheOtherZoneWasAwayIsSpreadWhenItIsBack() {
        Scenario pool = new Scenario().withNodes(4 * MIB, "a", "b", "c").withReplicas(2);
        pool.leading(7);
        pool.expect(Map.of("a", "east", "b", "east", "c", "west"));
        pool.crash("c");
        for (int i = 0; i < 20; i++) {
            pool.put("k" + i, 100);
        }

        pool.restart("c");
        pool.world.run(60_000);

        assertThat(pool.node("c").directory()).hasSize(20);
        assertThat(pool.node("a").directory().size()
                        + pool.node("b").directory().size())
                .as("one of the two that share a zone is freed")
                .isEqualTo(20);
        assertThat(count(pool, Count.TRIMMED)).isEqualTo(20);
    }

    @Test
    void aNodeThatWritersCannotReachIsAvoidedForAWhile() {
        Scenario pool =
                new Scenario().withNodes(4 * MIB, "a", "b", "c").withReplicas(2).leading(7);
        GrantReply grant = pool.grant("k", 100);
        String lost = grant.nodes().getLast().nodeId();
        List<Long> written = pool.write(grant, "k", 100);
        long failing = pool.node(lost).incarnation();
        pool.publish(
                grant.grants().getFirst().objectId(),
                "k",
                written.stream().filter(it -> it != failing).toList());
        pool.world.run(20);

        for (int i = 0; i < 20; i++) {
            assertThat(pool.grant("x" + i, 100).nodes())
                    .noneMatch(node -> node.nodeId().equals(lost));
        }
        assertThat(count(pool, Count.NODES_DISTRUSTED)).isEqualTo(1);
        pool.world.run(Bounds.DISTRUST_MS_MIN + 20);
        boolean chosen = false;
        for (int i = 0; i < 20; i++) {
            chosen |= pool.grant("y" + i, 100).nodes().stream()
                    .anyMatch(node -> node.nodeId().equals(lost));
        }
        assertThat(chosen).isTrue();
    }

    @Test
    void anEmptiedNodeIsFilledSlowlyAtFirst() {
        Scenario pool = filled(16, 200_000, "a", "b", "c");
        pool.crash("c");
        pool.node("c").wipe();
        pool.restart("c");
        pool.world.run(20);

        int early = 0;
        for (int i = 0; i < 100; i++) {
            early += pool.grantOne("early" + i, "c") ? 1 : 0;
        }
        pool.world.run(Bounds.RAMP_MS);
        pool.talkTo(pool.talkedTo());
        int late = 0;
        for (int i = 0; i < 100; i++) {
            late += pool.grantOne("late" + i, "c") ? 1 : 0;
        }
        assertThat(early).isLessThan(30);
        assertThat(late).isGreaterThan(30);
    }
}
