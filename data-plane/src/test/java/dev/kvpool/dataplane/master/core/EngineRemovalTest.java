// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Removals of objects of which a copy lay in an engine that has ended, or was cut off, just before. */
class EngineRemovalTest {
    private static final long MIB = 1 << 20;
    private static final String ONE = "engine-1";
    private static final String OTHER = "engine-2";

    /** One storage node and two engines, of which each has so much room that no copy goes elsewhere. */
    private static Scenario pool() {
        Scenario pool = new Scenario().withNodes(MIB, "a").withReplicas(2).leading(7);
        join(pool, ONE);
        join(pool, OTHER);
        return pool;
    }

    private static void join(Scenario pool, String engine) {
        pool.transientNode(engine, 64 * MIB).dial(pool.talkedTo());
        pool.world.run(50);
    }

    /** Puts a key until its two copies lie there. */
    private static void put(Scenario pool, String key, String... holders) {
        for (int i = 0; i < 200; i++) {
            assertThat(pool.put(key, 100)).isEqualTo(Status.OK);
            List<String> told = pool.talkedTo().core().holders(Key.of(key));
            if (told.size() == holders.length && told.containsAll(List.of(holders))) {
                return;
            }
            assertThat(pool.remove(key, true)).isEqualTo(Status.OK);
        }
        throw new AssertionError("no put went to " + List.of(holders));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", OTHER})
    void oneThatEndedInOrderHoldsUpNoRemoval(String holder) {
        Scenario pool = pool();
        put(pool, "k", ONE, holder);

        pool.leave(ONE);

        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node(holder).directory()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", OTHER})
    void norDoesOneThatWasKilled(String holder) {
        Scenario pool = pool();
        put(pool, "k", ONE, holder);

        pool.crash(ONE);

        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node(holder).directory()).isEmpty();
        pool.world.run(Bounds.TRANSIENT_AWAY_MS + 1_000);
        assertThat(pool.talkedTo().status().tombstones())
                .as("nobody can come back with it")
                .isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void norDoesOneThatGoesBeforeItHasFreedItsCopy(boolean inOrder) {
        Scenario pool = pool();
        put(pool, "k", ONE, OTHER);
        pool.node(ONE).mute(true);
        long request = pool.beginRemoval("k", false);
        assertThat(pool.isAnswered(request)).isFalse();

        if (inOrder) {
            pool.leave(ONE);
        } else {
            pool.crash(ONE);
        }
        pool.world.run(100);

        assertThat(pool.reply(request, RemoveReply.class).results()).containsExactly(Status.OK);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void oneThatWasCutOffLosesItsCopyWhenItIsBack() {
        Scenario pool = pool();
        put(pool, "k", ONE, OTHER);
        pool.node(ONE).hangUp(pool.talkedTo());
        pool.world.run(0);

        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);
        pool.node(ONE).dial(pool.talkedTo());
        pool.world.run(100);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node(ONE).directory()).isEmpty();
    }

    @Test
    void norDoesItBringItBackUnderTheNextLeader() {
        Scenario pool = pool();
        put(pool, "k", ONE, OTHER);
        ModelMaster standby = pool.master();
        pool.node(ONE).hangUp(pool.talkedTo());
        pool.world.run(0);
        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);

        pool.talkedTo().crash();
        pool.lead(standby, 8).talkTo(standby);
        pool.world.run(100);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        pool.world.run(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);
        assertThat(pool.node(ONE).directory()).isEmpty();
    }

    @Test
    void whatOnlyAnEngineHadThatEndedInOrderIsGoneAtOnce() {
        Scenario pool = pool().withReplicasOfPuts(1);
        put(pool, "k", ONE);

        pool.leave(ONE);
        pool.world.run(50);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.remove("k", false)).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        assertThat(pool.talkedTo().status().nodes()).noneMatch(node -> node.id().equals(ONE));
    }

    @Test
    void aStandbyHearsThatItEnded() {
        Scenario pool = pool();
        put(pool, "k", ONE, "a");
        ModelMaster standby = pool.master();
        pool.leave(ONE);
        assertThat(pool.world.register().members()).containsKeys("a", ONE, OTHER);

        pool.talkedTo().crash();
        pool.lead(standby, 8).talkTo(standby);
        assertThat(pool.find("never").status()).as("nobody is waited for").isEqualTo(Status.NOT_FOUND);
        pool.world.run(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);

        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void whatWasReplacedMeanwhileDoesNotComeBack() {
        Scenario pool = pool();
        put(pool, "k", ONE, OTHER);
        pool.node(ONE).hangUp(pool.talkedTo());
        pool.world.run(0);
        assertThat(pool.upsert("k", 200)).isEqualTo(Status.OK);

        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);
        pool.node(ONE).dial(pool.talkedTo());
        pool.world.run(100);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node(ONE).directory()).isEmpty();
    }

    @Test
    void aRemovalOfAllTakesItToo() {
        Scenario pool = pool();
        put(pool, "k", ONE, OTHER);
        put(pool, "read", ONE, OTHER);
        pool.find("read");
        pool.crash(ONE);

        assertThat(pool.removeAll(false).removed()).isEqualTo(1);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.find("read").status()).isEqualTo(Status.OK);
        assertThat(pool.removeAll(true).removed()).isEqualTo(1);
    }

    @Test
    void withoutStorageNodesTheOtherEngineWitnessesIt() {
        Scenario pool = new Scenario().withReplicas(2).leading(7);
        join(pool, ONE);
        join(pool, OTHER);
        put(pool, "k", ONE, OTHER);
        put(pool, "l", ONE, OTHER);

        pool.node(ONE).hangUp(pool.talkedTo());
        pool.world.run(0);
        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);
        assertThat(pool.world.register().behind()).containsExactly(ONE);
        assertThat(pool.world.register().witnesses()).containsOnlyKeys(OTHER);

        pool.node(ONE).dial(pool.talkedTo());
        pool.world.run(1_000);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node(ONE).directory()).noneMatch(record -> record.key().equals(Key.of("k")));
        assertThat(pool.world.register().behind()).isEmpty();
    }

    /** They are all there is: who starts without having seen them waits for them, as for storage nodes, and no longer. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void withoutStorageNodesANewLeaderWaitsForTheEngines(boolean comes) {
        Scenario pool = new Scenario().leading(7);
        join(pool, ONE);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.talkedTo().crash();
        ModelMaster next = pool.lonelyMaster();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS - 1_000);
        assertThat(pool.find("k").status()).isEqualTo(Status.RECOVERING);

        if (comes) {
            pool.node(ONE).dial(next);
            pool.world.run(100);
        } else {
            pool.world.run(2_000);
        }

        assertThat(pool.find("k").status()).isEqualTo(comes ? Status.OK : Status.UNAVAILABLE);
    }

    @Test
    void aStorageNodeCannotSayThatItsMemoryEnds() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        pool.put("k", 100);

        pool.leave("b");

        assertThat(pool.talkedTo().reports()).noneMatch(line -> line.contains("it ended in order"));
        pool.restart("b");
        assertThat(pool.talkedTo().core().holders(Key.of("k"))).containsExactlyInAnyOrder("a", "b");
    }

    // ---- a pool without storage nodes, whose register is lost -----------------------------------------------------

    /** One engine had the object and was away when everything was removed, the other one was there; then the Lease is deleted. */
    private static Scenario enginesThatRemovedEverything() {
        Scenario pool = new Scenario();
        pool.transientNode(ONE, MIB).ofTenant(Tenant.DEFAULT);
        pool.leading(1).world.run(100);
        assertThat(pool.as(Tenant.DEFAULT).put("k", 100)).isEqualTo(Status.OK);
        pool.node(ONE).hangUp(pool.talkedTo());
        pool.transientNode(OTHER, MIB).ofTenant(Tenant.DEFAULT).dial(pool.talkedTo());
        pool.world.run(Bounds.TRANSIENT_AWAY_MS + 1_000);
        assertThat(pool.as(Tenant.DEFAULT).removeAll(true).status()).isEqualTo(Status.OK);
        assertThat(pool.node(OTHER).purgeId()).isNotEqualTo(ObjectId.NONE);
        pool.world.setRegister(Register.NONE);
        pool.standBy();
        return pool;
    }

    private static void nothingIsReadFor(Scenario pool, long ms) {
        for (long passed = 0; passed < ms; passed += 100) {
            assertThat(pool.find("k").status()).as("after %d ms", passed).isNotEqualTo(Status.OK);
            pool.world.run(100);
        }
    }

    private static void servesWithoutIt(Scenario pool) {
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.put("l", 100)).isEqualTo(Status.OK);
        assertThat(pool.node(ONE).directory()).noneMatch(line -> line.key().equals(Key.of("k")));
    }

    @Test
    void whatWasRemovedWithEverythingStaysSoWhenTheRegisterIsLost() {
        Scenario pool = enginesThatRemovedEverything();
        ModelMaster next = pool.master();
        pool.lead(next, 2).talkTo(next).as(Tenant.DEFAULT);
        nothingIsReadFor(pool, 20_000);
        servesWithoutIt(pool);
    }

    /** Also when those that know of it come later, to a leader that waits for them or serves already. */
    @ParameterizedTest
    @ValueSource(longs = {0, 3_000})
    void alsoWhenTheOneThatHasItComesFirst(long comesAfterMs) {
        Scenario pool = enginesThatRemovedEverything();
        ModelMaster next = pool.lonelyMaster();
        if (comesAfterMs == 0) {
            pool.node(ONE).dial(next);
        }
        pool.lead(next, 2).talkTo(next).as(Tenant.DEFAULT);
        nothingIsReadFor(pool, 3_000);
        pool.node(ONE).dial(next);
        nothingIsReadFor(pool, 3_000);
        pool.node(OTHER).dial(next);
        nothingIsReadFor(pool, 14_000);
        servesWithoutIt(pool);
    }

    /** What it says of its own tenant's objects is believed wherever they lie, and of others' nothing. */
    @Test
    void anEngineOfATenantTellsOfThatTenantsObjects() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(1);
        assertThat(pool.as(Tenant.of("a")).put("k", 100)).isEqualTo(Status.OK);
        assertThat(pool.as(Tenant.of("b")).put("k", 100)).isEqualTo(Status.OK);
        pool.transientNode(ONE, MIB).ofTenant(Tenant.of("b")).obedience().raisePurge(new ObjectId(1, 1_000));
        pool.world.setRegister(Register.NONE);
        ModelMaster next = pool.master();
        pool.standBy();
        pool.lead(next, 2).talkTo(next);

        assertThat(pool.as(Tenant.of("b")).find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.as(Tenant.of("a")).find("k").status()).isEqualTo(Status.OK);
    }
}
