// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.register.RegisterText;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.nativelib.Status;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Removals hold while the expected nodes change, and nodes have come and gone since; the register does not grow with them. */
class ExpectedSetTest {
    private static final long MIB = 1 << 20;
    private static final long GONE_MS = Bounds.UNEXPECTED_AWAY_MS + 2_000;

    private static void join(Scenario pool, String... ids) {
        for (String id : ids) {
            pool.unexpectedNode(id, MIB).dial(pool.talkedTo());
        }
        pool.world.run(100);
    }

    private static ModelMaster nextLeader(Scenario pool, long epoch) {
        pool.talkedTo().crash();
        ModelMaster next = pool.master();
        pool.lead(next, epoch).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS + 100);
        pool.talkTo(next);
        return next;
    }

    /** Five nodes, of which e has missed the removal of "k". */
    private static Scenario fiveWithoutE() {
        Scenario pool = new Scenario()
                .withNodes(MIB, "a", "b", "c", "d", "e")
                .withReplicas(5)
                .leading(7);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.crash("e");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        return pool;
    }

    /** "k" was removed and "kept" was not, however many leaders there are. */
    private static void removalHolds(Scenario pool, long epoch) {
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        nextLeader(pool, epoch);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        pool.world.run(GONE_MS);
        pool.talkTo(pool.talkedTo());
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.world.register().behind()).isEmpty();
        for (ModelNode node : pool.nodes.values()) {
            assertThat(node.directory()).noneMatch(record -> record.key().equals(Key.of("k")));
        }
    }

    /** What b got when it was back for a moment, still behind, is replaced while it is away for the second time. */
    private static Scenario replacedAtTheSecondAbsence(int leadersBetween) {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.crash("b");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        pool.restart("b");
        assertThat(pool.put("x", 100)).isEqualTo(Status.OK);
        assertThat(pool.node("b").directory()).anyMatch(record -> record.key().equals(Key.of("x")));
        assertThat(pool.world.register().behind()).containsExactly("b");
        pool.crash("b");
        for (int i = 0; i < leadersBetween; i++) {
            nextLeader(pool, 8 + i);
        }
        assertThat(pool.upsert("x", 200)).isEqualTo(Status.OK);
        pool.crash("a");
        return pool;
    }

    @Test
    void whatANodeGotBetweenTwoAbsencesIsNotBelievedAfterTheSecond() {
        for (int leadersBetween : new int[] {0, 1}) {
            Scenario pool = replacedAtTheSecondAbsence(leadersBetween);
            pool.talkedTo().crash();
            pool.restart("b");
            nextLeader(pool, 10);

            assertThat(pool.find("x").status()).isEqualTo(Status.UNAVAILABLE);
            pool.restart("a");
            pool.world.run(1_000);
            assertThat(pool.find("x").payloadLength()).isEqualTo(200);
        }
    }

    /** What replaced an object, without a tombstone since its node was unknown, is on a node that has not come yet (seed 12741). */
    @Test
    void aNodeThatWasBehindIsNotBelievedWhileAnotherMayHoldWhatItMissed() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        List.of("a", "b").forEach(pool::crash);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.crash("c");
        pool.restart("b");
        replaceUnheard(pool, 8);
        pool.crash("b");

        lead(pool, 9, "a", "c");
        pool.pass(2_000);
        assertThat(pool.find("k").status()).isEqualTo(Status.UNAVAILABLE);

        pool.restart("b");
        pool.pass(2_000);
        assertThat(pool.find("k").payloadLength()).isEqualTo(200);
    }

    /** The node that holds it was behind itself when it got it, and is away since a moment before the others (seed 11424). */
    @Test
    void norWhenThatOneWasBehindItself() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c", "d").leading(7);
        pool.crash("b");
        assertThat(pool.put("x", 100)).isEqualTo(Status.OK);
        assertThat(pool.remove("x", true)).isEqualTo(Status.OK);
        assertThat(pool.world.register().behind()).containsExactly("b");
        List.of("a", "d").forEach(pool::crash);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.crash("c");
        pool.talkedTo().crash();
        pool.restart("b");
        replaceUnheard(pool, 8);
        pool.crash("b");

        lead(pool, 9, "a", "c", "d");
        pool.pass(2_000);
        assertThat(pool.find("k").status()).isEqualTo(Status.UNAVAILABLE);

        pool.restart("b");
        pool.pass(2_000);
        assertThat(pool.find("k").payloadLength()).isEqualTo(200);
    }

    /** A leader that has met only the nodes that are there puts the key anew. */
    private static void replaceUnheard(Scenario pool, long epoch) {
        lead(pool, epoch);
        assertThat(pool.upsert("k", 200)).isEqualTo(Status.OK);
    }

    /** A new leader, and nodes that come. */
    private static void lead(Scenario pool, long epoch, String... coming) {
        pool.talkedTo().crash();
        ModelMaster next = pool.master();
        pool.lead(next, epoch).talkTo(next);
        List.of(coming).forEach(pool::restart);
        pool.world.run(Bounds.COLD_WAIT_MS + 100);
        pool.talkTo(next);
    }

    @Test
    void twoToFiveWithOneOfTheTwoAway() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.crash("b");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);

        pool.expectOnly("a", "b", "c", "d", "e");
        join(pool, "c", "d", "e");
        pool.world.run(1_000);
        assertThat(pool.world.register().witnesses()).containsOnlyKeys("a", "c", "d");
        pool.crash("a");
        pool.restart("b");
        pool.world.run(1_000);

        pool.restart("a");
        removalHolds(pool, 8);
    }

    @Test
    void fiveToTwoOfWhomOneIsBehind() {
        Scenario pool = fiveWithoutE();
        assertThat(pool.world.register().witnesses()).containsOnlyKeys("a", "b", "c");

        pool.expectOnly("d", "e");
        List.of("a", "b", "c").forEach(pool::crash);
        pool.world.run(GONE_MS);
        pool.talkTo(pool.talkedTo());
        assertThat(pool.world.register().witnesses()).containsOnlyKeys("d");
        assertThat(pool.world.register().members()).containsOnlyKeys("d", "e");

        pool.restart("e");
        pool.world.run(1_000);
        removalHolds(pool, 8);
    }

    /** With no node left to witness in their place, the witnesses stay members however long they are away. */
    @Test
    void theLastWitnessesAreNotDroppedThoughNobodyExpectsThem() {
        Scenario pool = fiveWithoutE();
        pool.expectOnly("d", "e");
        List.of("a", "b", "c", "d").forEach(pool::crash);
        pool.world.run(GONE_MS);
        assertThat(pool.world.register().witnesses()).containsOnlyKeys("a", "b", "c");

        pool.talkedTo().crash();
        pool.restart("e");
        ModelMaster next = nextLeader(pool, 8);
        assertThat(next.status().register().awaitsWitness()).isTrue();
        assertThat(pool.find("k").status()).isEqualTo(Status.UNAVAILABLE);
        pool.restart("b");
        pool.world.run(1_000);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void allAreRenamed() {
        Scenario pool =
                new Scenario().withNodes(MIB, "a", "b", "c").withReplicas(3).leading(7);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.crash("c");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);

        pool.expectOnly("x", "y", "z");
        join(pool, "x", "y", "z");
        List.of("a", "b").forEach(pool::crash);
        pool.world.run(500);
        assertThat(pool.put("new", 100)).isEqualTo(Status.OK);
        assertThat(pool.remove("new", true)).isEqualTo(Status.OK);
        pool.world.run(GONE_MS);
        pool.talkTo(pool.talkedTo());
        assertThat(pool.world.register().members()).containsOnlyKeys("x", "y", "z");

        List.of("a", "b", "c").forEach(pool::restart);
        pool.world.run(1_000);
        assertThat(pool.find("new").status()).isEqualTo(Status.NOT_FOUND);
        pool.world.run(2 * Scenario.OBJECT_LEASE_MS);
        pool.talkTo(pool.talkedTo());
        removalHolds(pool, 8);
    }

    /** Its tombstones are gone, but not from the leader's mind: it is no witness until it has them again. */
    @Test
    void theOnlyWitnessComesBackWithoutItsMemory() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.crash("b");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        assertThat(pool.world.register().witnesses()).containsOnlyKeys("a");

        pool.crash("a");
        pool.node("a").wipe();
        pool.restart("a");
        pool.world.run(1_000);
        assertThat(pool.node("a").tombstones())
                .extracting(record -> record.key().toString())
                .containsExactly("k");
        pool.restart("b");
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        pool.world.run(100);
        removalHolds(pool, 8);
    }

    @Test
    void aThousandNodesThatComeAndGoLeaveNothingInTheRegister() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        int longest = 0;
        for (int i = 0; i < 1_000; i++) {
            String id = "engine-" + i;
            pool.transientNode(id, MIB).dial(pool.talkedTo());
            pool.world.run(20);
            assertThat(pool.world.register().isMember(id)).isTrue();
            pool.crash(id);
            pool.nodes.remove(id);
            if (i % 100 == 0) {
                pool.talkTo(pool.talkedTo());
                pool.put("k" + i, 100);
                assertThat(pool.remove("k" + i, true)).isEqualTo(Status.OK);
                longest = Math.max(
                        longest, RegisterText.write(pool.world.register()).length());
            }
        }
        pool.world.run(Bounds.TRANSIENT_AWAY_MS + 2_000);

        assertThat(pool.world.register().members().keySet()).isEqualTo(Set.of("a", "b"));
        assertThat(longest).isLessThan(64 * 1024);
    }
}
