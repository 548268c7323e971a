// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.election.Succession;
import dev.kvpool.dataplane.election.Term;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.DrainStatus;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import org.junit.jupiter.api.Test;

/** The rules of the cache change while masters run: what was promised holds, everything else follows. */
class ChangedRulesTest {
    private static final long MIB = 1L << 20;
    private static final EvictionRules EVICTION = EvictionRules.between(0.50, 0.90);

    private static CacheRules leasing(long objectLeaseMs) {
        return PlainSettings.rules(
                objectLeaseMs, EVICTION, 1, Scenario.REPAIR_DELAY_MS, Scenario.REPAIR_BYTES_PER_SECOND);
    }

    private static CacheRules copying(int replicas) {
        return PlainSettings.rules(
                Scenario.OBJECT_LEASE_MS,
                EVICTION,
                replicas,
                Scenario.REPAIR_DELAY_MS,
                Scenario.REPAIR_BYTES_PER_SECOND);
    }

    private static CacheRules evicting(EvictionRules eviction) {
        return PlainSettings.rules(
                Scenario.OBJECT_LEASE_MS, eviction, 1, Scenario.REPAIR_DELAY_MS, Scenario.REPAIR_BYTES_PER_SECOND);
    }

    private static Scenario pool(String... nodes) {
        Scenario pool = new Scenario().withNodes(MIB, nodes).leading(7);
        // Readers have no promises of a former leader any more.
        pool.world.run(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);
        return pool.talkTo(pool.talkedTo());
    }

    private static int copies(Scenario pool, String key) {
        return pool.find(key).replicas().size();
    }

    // ---- object leases ------------------------------------------------------------------------------------------

    @Test
    void aLongerLeaseIsPromisedOnlyWhenEveryNodeHasWrittenItDown() {
        Scenario pool = pool("a", "b");
        pool.node("b").mute(true);

        pool.talkedTo().goBy(leasing(60_000));
        pool.world.run(100);
        assertThat(pool.lookup("k").leaseMs()).isEqualTo(Scenario.OBJECT_LEASE_MS);

        pool.node("b").mute(false);
        pool.world.run(20);
        assertThat(pool.lookup("k").leaseMs()).isEqualTo(60_000);
    }

    @Test
    void aNodeThatHasOnlyComeDoesNotShortenWhatIsPromised() {
        Scenario pool = pool("a", "b");
        pool.crash("b");
        pool.node("b").wipe();
        pool.node("b").mute(true);
        pool.restart("b");

        pool.talkedTo().goBy(leasing(60_000));
        pool.world.run(20);
        assertThat(pool.lookup("k").leaseMs()).isEqualTo(Scenario.OBJECT_LEASE_MS);

        pool.node("b").mute(false);
        pool.world.run(20);
        assertThat(pool.lookup("k").leaseMs()).isEqualTo(60_000);
    }

    @Test
    void aNodeThatGoesWithoutAnAnswerHoldsNothingUp() {
        Scenario pool = pool("a", "b");
        pool.node("b").mute(true);
        pool.talkedTo().goBy(leasing(60_000));

        pool.crash("b");
        pool.world.run(20);

        assertThat(pool.lookup("k").leaseMs()).isEqualTo(60_000);
    }

    @Test
    void theNextLeaderKeepsPromisesOfALeaseThatItDoesNotKnow() {
        Scenario pool = pool("a");
        pool.put("k", 100);
        ModelMaster next = pool.master();
        pool.talkedTo().goBy(leasing(60_000));
        pool.world.run(20);
        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
        pool.talkedTo().crash();

        long now = pool.world.nowMs();
        pool.world.taken(Scenario.authority(8));
        next.lead(new Term(Scenario.authority(8), 1L << 40, now, Succession.NONE, Register.NONE));
        pool.world.run(59_900);
        pool.talkTo(next);

        assertThat(pool.remove("k", false)).isEqualTo(Status.HAS_LEASE);
        pool.world.run(200);
        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);
    }

    @Test
    void aShorterLeaseCountsAtOnceAndWhatWasPromisedBeforeRunsOn() {
        Scenario pool = pool("a");
        pool.put("k", 100);
        pool.put("l", 100);
        pool.find("k");

        pool.talkedTo().goBy(leasing(1_000));
        assertThat(pool.lookup("l").leaseMs()).isEqualTo(1_000);
        pool.world.run(1_100);
        assertThat(pool.remove("l", false)).isEqualTo(Status.OK);
        assertThat(pool.remove("k", false)).isEqualTo(Status.HAS_LEASE);
        pool.world.run(Scenario.OBJECT_LEASE_MS - 1_000);
        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);
    }

    @Test
    void aDrainedNodeLeavesWhenPromisesOfTheLongerLeaseHaveEnded() {
        Scenario pool = pool("a", "b");
        pool.find("k");
        pool.talkedTo().goBy(leasing(1_000));

        assertThat(pool.talkedTo().core().drain("a", false, 600_000, 0, pool.world.nowMs()))
                .isEmpty();
        pool.world.run(Scenario.OBJECT_LEASE_MS - 100);
        assertThat(pool.talkedTo().status().drains().getFirst().state()).isEqualTo(DrainStatus.State.DRAINING);
        pool.world.run(1_000);
        assertThat(pool.talkedTo().status().drains().getFirst().state()).isEqualTo(DrainStatus.State.DRAINED);
    }

    @Test
    void aStandbyPromisesWhatItWasToldLastWhenItLeads() {
        Scenario pool = pool("a");
        ModelMaster standby = pool.master();

        standby.goBy(leasing(60_000));
        pool.talkedTo().crash();
        pool.lead(standby, 8).talkTo(standby);
        assertThat(pool.lookup("k").leaseMs())
                .as("the register does not have it yet")
                .isEqualTo(Scenario.OBJECT_LEASE_MS);
        pool.world.run(20);

        assertThat(pool.lookup("k").leaseMs()).isEqualTo(60_000);
    }

    // ---- copies -------------------------------------------------------------------------------------------------

    @Test
    void whatIsThereGetsAsManyCopiesAsThePoolWantsNow() {
        Scenario pool = pool("a", "b", "c");
        for (int i = 0; i < 30; i++) {
            pool.put("k" + i, 100);
        }

        pool.talkedTo().goBy(copying(2));
        pool.put("new", 100);
        assertThat(copies(pool, "new")).isEqualTo(2);
        pool.pass(5_000);

        for (int i = 0; i < 30; i++) {
            assertThat(copies(pool, "k" + i)).isEqualTo(2);
        }
        assertThat(pool.talkedTo().status().underReplicatedObjects()).isZero();
    }

    @Test
    void aPutThatSaysHowManyIsHeardAlsoAfterwards() {
        Scenario pool = pool("a", "b");
        pool.talkedTo().goBy(copying(2));

        pool.withReplicasOfPuts(1).put("one", 100);
        pool.pass(5_000);

        assertThat(copies(pool, "one")).isEqualTo(1);
    }

    @Test
    void withFewerWantedWhatHasMoreKeepsThem() {
        Scenario pool = pool("a", "b");
        pool.talkedTo().goBy(copying(2));
        pool.put("two", 100);

        pool.talkedTo().goBy(copying(1));
        pool.put("one", 100);
        pool.pass(2 * Scenario.OBJECT_LEASE_MS);

        assertThat(copies(pool, "two")).isEqualTo(2);
        assertThat(copies(pool, "one")).isEqualTo(1);
        assertThat(pool.talkedTo().status().overReplicatedObjects()).isZero();
    }

    @Test
    void aStandbyThatWasToldLeadsWithTheNewNumber() {
        Scenario pool = pool("a", "b");
        pool.put("k", 100);
        ModelMaster standby = pool.master();
        pool.world.run(100);

        standby.goBy(copying(2));
        pool.talkedTo().crash();
        pool.lead(standby, 8).talkTo(standby);
        pool.pass(5_000);

        assertThat(copies(pool, "k")).isEqualTo(2);
    }

    @Test
    void aLeaderThatWasToldAndIsDeposedLeadsLaterWithTheNewNumber() {
        Scenario pool = pool("a", "b");
        pool.put("k", 100);

        pool.talkedTo().goBy(copying(2));
        pool.standBy();
        pool.lead(pool.talkedTo(), 8);
        pool.pass(5_000);

        assertThat(copies(pool, "k")).isEqualTo(2);
    }

    @Test
    void aShorterRepairDelayCountsForNodesThatAreAwayAlready() {
        Scenario pool = pool("a", "b", "c");
        pool.talkedTo().goBy(copying(2));
        pool.put("k", 100);
        pool.crash(pool.talkedTo().core().holders(Key.of("k")).getFirst());
        pool.pass(5_000);
        assertThat(copies(pool, "k")).isEqualTo(1);

        pool.talkedTo().goBy(PlainSettings.rules(Scenario.OBJECT_LEASE_MS, EVICTION, 2, 1_000, 1 << 20));
        pool.pass(1_000);

        assertThat(copies(pool, "k")).isEqualTo(2);
    }

    // ---- eviction -----------------------------------------------------------------------------------------------

    @Test
    void lowerWatermarksEvictAtOnceAndHigherOnesStop() {
        Scenario pool = pool("a");
        for (int i = 0; i < 8; i++) {
            pool.put("k" + i, 100_000);
        }
        pool.world.run(100);
        assertThat(count(pool, Count.EVICTED)).isZero();

        pool.talkedTo().goBy(evicting(EvictionRules.between(0.30, 0.40)));
        pool.world.run(100);
        assertThat(count(pool, Count.EVICTED)).isEqualTo(5);

        pool.talkedTo().goBy(evicting(EVICTION));
        for (int i = 0; i < 5; i++) {
            pool.put("l" + i, 100_000);
        }
        pool.world.run(100);
        assertThat(count(pool, Count.EVICTED)).isEqualTo(5);
    }

    @Test
    void whenSoftPinsHoldNoMoreTheirObjectsGo() {
        EvictionRules tight = new EvictionRules(0.40, 0.30, 0, 1_800_000, false);
        Scenario pool = pool("a").keeping(Retention.of(true, false, 0, 0));
        pool.talkedTo().goBy(evicting(tight));
        for (int i = 0; i < 8; i++) {
            pool.put("k" + i, 100_000);
        }
        pool.world.run(1_000);
        assertThat(count(pool, Count.EVICTED)).isZero();

        pool.talkedTo().goBy(evicting(new EvictionRules(0.40, 0.30, 0, 1_800_000, true)));
        pool.world.run(100);

        assertThat(count(pool, Count.EVICTED)).isEqualTo(5);
    }

    @Test
    void aTakeoverReserveIsKeptFromNowOn() {
        Scenario pool = pool("a");
        for (int i = 0; i < 9; i++) {
            assertThat(pool.put("k" + i, 100_000)).isEqualTo(Status.OK);
        }
        pool.pass(600_000); // until nothing is kept free any more for puts that are as close together

        pool.talkedTo().goBy(evicting(new EvictionRules(0.90, 0.50, 0.10, 1_800_000, true)));
        pool.world.run(10);
        assertThat(pool.put("new", 100_000)).isEqualTo(Status.NO_SPACE);

        pool.talkedTo().goBy(evicting(EVICTION));
        pool.world.run(10);
        assertThat(pool.put("new", 100_000)).isEqualTo(Status.OK);
    }

    private static long count(Scenario pool, Count what) {
        return pool.talkedTo().status().counters().get(what);
    }
}
