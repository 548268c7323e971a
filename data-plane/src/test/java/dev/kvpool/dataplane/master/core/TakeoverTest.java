// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.election.Succession;
import dev.kvpool.dataplane.election.Term;
import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TakeoverTest {
    @Test
    void aLeftOverOfADeadTransientNodeTakesNothingWithIt() {
        Scenario pool = new Scenario().withNodes(1 << 20, "a").leading(7);
        pool.put("k", 100);
        long kept = pool.node("a").directory().size();
        ModelNode engine = pool.transientNode("t", 1 << 20);
        engine.dial(pool.talkedTo());
        pool.world.run(10);
        engine.write(Scenario.authority(7), new ObjectId(7, 99), Key.of("k"), 200, 1);
        pool.world.run(0);
        engine.crash();
        pool.world.run(0);

        pool.lead(pool.talkedTo(), 8);
        pool.world.run(Bounds.FENCE_WAIT_WARM_MS + 10);
        assertThat(pool.node("a").directory()).hasSize((int) kept);
        pool.world.run(Bounds.TRANSIENT_AWAY_MS + 1_000);

        assertThat(pool.find("k").payloadLength()).isEqualTo(100);
    }

    @Test
    void aTransientNodeThatOnlyLostItsConnectionKeepsItsNewerObject() {
        Scenario pool = new Scenario().withNodes(1 << 20, "a").leading(7);
        pool.put("k", 100);
        ModelNode engine = pool.transientNode("t", 1 << 20);
        engine.dial(pool.talkedTo());
        pool.world.run(10);
        pool.standBy();
        engine.write(Scenario.authority(7), new ObjectId(7, 99), Key.of("k"), 200, 1);
        pool.world.run(0);
        engine.hangUp(pool.talkedTo());
        pool.world.run(0);

        pool.lead(pool.talkedTo(), 8);
        pool.world.run(Bounds.FENCE_WAIT_WARM_MS + 10);
        assertThat(pool.find("k").status()).isEqualTo(Status.UNAVAILABLE);
        engine.dial(pool.talkedTo());
        pool.world.run(100);

        assertThat(pool.find("k").payloadLength()).isEqualTo(200);
    }

    @Test
    void aLeftOverThatWasFreedOnANodeOutOfSightTakesNothingWithIt() {
        Scenario pool = new Scenario().withNodes(1 << 20, "a", "b").leading(7);
        ModelMaster next = pool.master();
        pool.put("k", 100);
        String holder = pool.talkedTo().core().holders(Key.of("k")).getFirst();
        ModelNode other = pool.node(holder.equals("a") ? "b" : "a");
        leftOverFreedOutOfSight(pool, other, next);
        assertThat(other.directory()).isEmpty();
        pool.talkedTo().crash();

        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.FENCE_WAIT_WARM_MS + 10);
        assertThat(pool.find("k").status()).as("the newer one may be there").isEqualTo(Status.UNAVAILABLE);
        pool.world.run(Scenario.LEASE_DURATION_MS + 2 * Scenario.OBJECT_LEASE_MS);
        other.dial(next);
        pool.world.run(100);

        assertThat(pool.find("k").payloadLength()).isEqualTo(100);
    }

    /** The one that lost lies on a node away, too, and returns first. */
    @Test
    void whatALeftOverOutOfSightHasOutdoneIsKeptOnANodeAwayToo() {
        Scenario pool = new Scenario().withNodes(1 << 20, "a", "b", "c").leading(7);
        ModelMaster next = pool.master();
        pool.put("k", 100);
        String holder = pool.talkedTo().core().holders(Key.of("k")).getFirst();
        ModelNode older = pool.node(holder);
        ModelNode newer = pool.node(holder.equals("a") ? "b" : "a");
        leftOverFreedOutOfSight(pool, newer, next);
        older.hangUp(next);
        pool.talkedTo().crash();

        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.FENCE_WAIT_WARM_MS + Scenario.LEASE_DURATION_MS + 2 * Scenario.OBJECT_LEASE_MS);
        older.dial(next);
        pool.world.run(100);
        assertThat(pool.find("k").status()).isEqualTo(Status.UNAVAILABLE);
        newer.dial(next);
        pool.world.run(100);

        assertThat(pool.find("k").payloadLength()).isEqualTo(100);
    }

    /** A put of epoch 7 that was never published is written to a node, and freed there unseen by the next leader, which has seen it. */
    private static void leftOverFreedOutOfSight(Scenario pool, ModelNode node, ModelMaster next) {
        node.mute(true);
        node.write(Scenario.authority(7), new ObjectId(7, 99), Key.of("k"), 200, 2);
        pool.world.run(0);
        node.onFree(freed -> node.hangUp(next));
        node.mute(false);
        pool.world.run(0);
    }

    private static final long MIB = 1 << 20;

    @Test
    void aWarmStandbyServesEveryObjectAtOnce() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        ModelMaster standby = pool.master();
        for (int i = 0; i < 100; i++) {
            assertThat(pool.put("k" + i, 100)).isEqualTo(Status.OK);
        }

        pool.talkedTo().crash();
        pool.lead(standby, 8).talkTo(standby);

        for (int i = 0; i < 100; i++) {
            assertThat(pool.find("k" + i).objectId().epoch()).isEqualTo(7);
        }
        assertThat(pool.put("new", 100)).isEqualTo(Status.OK);
    }

    @Test
    void aStandbyAnswersNobody() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        ModelMaster standby = pool.master();
        standby.standBy();

        pool.talkTo(standby);

        assertThat(pool.lookup("k").status()).isEqualTo(Status.NOT_LEADER);
        assertThat(pool.put("n", 100)).isEqualTo(Status.NOT_LEADER);
        assertThat(pool.removeAll(true).status()).isEqualTo(Status.NOT_LEADER);
    }

    @Test
    void aLeaderThatCouldNotRenewAnswersNobody() {
        Scenario pool = new Scenario().withNodes(MIB, "a");
        ModelMaster master = pool.master();
        master.lead(Scenario.authority(7), 3_000);
        pool.world.run(0);
        pool.talkTo(master);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);

        pool.world.run(3_000);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_LEADER);
        assertThat(master.status().isLeader(pool.world.nowMs())).isFalse();

        master.renew(3_000);
        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
    }

    @Test
    void grantsOfTheEpochBeforeDie() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        ModelMaster standby = pool.master();
        GrantReply grant = pool.grant("k", 100);

        pool.lead(standby, 8);

        ModelNode node = pool.node("a");
        ObjectId id = grant.grants().getFirst().objectId();
        assertThat(node.write(grant.authority(), id, Key.of("k"), 100, 0)).isEqualTo(Status.STALE_EPOCH);
        pool.talkTo(standby);
        assertThat(pool.published(pool.publish(id, "k", List.of(node.incarnation()))))
                .isEqualTo(Status.STALE_EPOCH);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        assertThat(pool.find("k").objectId()).isEqualTo(new ObjectId(8, 1));
    }

    @Test
    void whatWasCommittedBeforeTheFenceCountsAsPublished() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        ModelMaster standby = pool.master();
        GrantReply grant = pool.grant("k", 100);
        List<Long> committed = pool.write(grant, "k", 100);

        pool.lead(standby, 8).talkTo(standby);

        ObjectId id = grant.grants().getFirst().objectId();
        assertThat(pool.find("k").objectId()).isEqualTo(id);
        // The writer asks again at the new leader, as it would after losing the old one.
        assertThat(pool.published(pool.publish(id, "k", committed))).isEqualTo(Status.OK);
    }

    @Test
    void ofOneKeyTheHighestIdWinsAndTheOthersAreFreedWhenNobodyMayRelyOnThem() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b");
        Authority old = Scenario.authority(5);
        ModelMaster first = pool.master();
        pool.lead(first, 5);
        pool.node("a").write(old, new ObjectId(5, 1), Key.of("k"), 100, 1);
        pool.node("b").write(old, new ObjectId(5, 2), Key.of("k"), 100, 2);
        List<DirectoryRecord> freed = new ArrayList<>();
        pool.node("a").onFree(freed::add);

        pool.lead(first, 6).talkTo(first);

        assertThat(pool.find("k").objectId()).isEqualTo(new ObjectId(5, 2));
        long leasedMs = Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS;
        pool.world.run(leasedMs - 100);
        assertThat(freed).isEmpty();
        pool.world.run(200);
        assertThat(freed).extracting(DirectoryRecord::objectId).containsExactly(new ObjectId(5, 1));
        assertThat(pool.node("b").directory()).hasSize(1);
    }

    @Test
    void recoveredObjectsAreLeasedForAsLongAsAnyLeaderMayHavePromised() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        ModelMaster standby = pool.master();
        pool.put("k", 100);

        pool.lead(standby, 8).talkTo(standby);

        long leasedMs = Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS;
        pool.world.run(leasedMs - 20);
        assertThat(pool.remove("k", false)).isEqualTo(Status.HAS_LEASE);
        pool.world.run(30);
        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);
    }

    @Test
    void aWarmTakeoverDoesNotWaitLongForASilentNode() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        ModelMaster standby = pool.master();
        pool.node("b").mute(true);

        pool.lead(standby, 8).talkTo(standby);

        assertThat(pool.lookup("k").status()).isEqualTo(Status.RECOVERING);
        pool.world.run(Bounds.FENCE_WAIT_WARM_MS + 10);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        assertThat(pool.lookup("k").nodes().getFirst().nodeId()).isEqualTo("a");
    }

    @Test
    void objectsOfASilentNodeAreUnavailableNotForgotten() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        ModelMaster standby = pool.master();
        pool.put("k", 100);
        pool.node("a").mute(true);

        pool.lead(standby, 8).talkTo(standby);
        pool.world.run(Bounds.FENCE_WAIT_WARM_MS + 10);
        assertThat(pool.find("k").status()).isEqualTo(Status.UNAVAILABLE);
        assertThat(pool.exists("k")).isEqualTo(Status.NOT_FOUND);
        assertThat(standby.status().unavailableObjects()).isEqualTo(1);

        pool.node("a").mute(false);
        pool.world.run(10);
        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
    }

    @Test
    void aLeaderThatMeetsAHigherEpochAsksForMoreAndStopsUntilItHasIt() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(9);
        pool.put("k", 100);
        ModelMaster behind = pool.master();
        List<Long> raises = new ArrayList<>();
        behind.onRaise(raises::add);

        pool.lead(behind, 8).talkTo(behind);
        assertThat(raises).containsExactly(9L);
        assertThat(pool.find("k").status()).isEqualTo(Status.RECOVERING);

        pool.lead(behind, 10);
        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
        assertThat(pool.node("a").seen().epoch()).isEqualTo(10);
    }

    @Test
    void anEqualEpochOfAnotherHolderIsAHigherOne() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(9);
        ModelMaster twin = pool.master();
        List<Long> raises = new ArrayList<>();
        twin.onRaise(raises::add);

        twin.lead(new Authority(9, 4711), 10_000);
        pool.world.run(0);

        assertThat(raises).containsExactly(9L);
        assertThat(twin.status().state()).isEqualTo(PoolStatus.State.RECOVERING);
    }

    @Test
    void aDeposedLeaderCannotFree() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        ModelMaster next = pool.master();
        pool.lead(next, 8);

        long request = pool.nextRequest();
        pool.send(
                new dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest(request, true, List.of(Key.of("k"))));

        assertThat(pool.node("a").directory()).hasSize(1);
        assertThat(pool.talkedTo().status().state()).isEqualTo(PoolStatus.State.RECOVERING);
    }

    /** Nobody is behind, so what it shows was neither removed nor replaced. */
    @Test
    void whatOneNodeAloneShowsIsReadWhenNothingWasMissed() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        String holder = pool.talkedTo().core().holders(Key.of("k")).getFirst();
        List<String> others = new ArrayList<>(List.of("a", "b", "c"));
        others.remove(holder);
        others.forEach(id -> pool.node(id).crash());
        pool.talkedTo().crash();
        ModelMaster next = pool.master();
        next.lead(Scenario.authority(8), 100_000);
        pool.talkTo(next).world.run(Bounds.COLD_WAIT_MS + 10);

        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
        assertThat(pool.put("new", 100)).isEqualTo(Status.OK);
    }

    @Test
    void aWarmStandbyKnowsWhichNodeIsAwayAndDoesNotWaitForIt() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        ModelMaster standby = pool.master();
        pool.put("k", 100);
        pool.node("a").crash();
        pool.talkedTo().crash();

        standby.lead(Scenario.authority(8), 100_000);
        pool.talkTo(standby).world.run(Bounds.FENCE_WAIT_WARM_MS + 10);

        assertThat(pool.put("new", 100)).isEqualTo(Status.OK);
    }

    @Test
    void theLargestObjectLeaseIsHeardWithTheAnswerToTheFence() {
        Scenario pool = new Scenario().withNodes(1000, "a");
        ModelMaster next = pool.master();
        ModelMaster generous = new ModelMaster(
                pool.world, PlainSettings.of("generous", 60_000, 0.90, 0.50, 1, 30_000, 1 << 28), Set.of("a"));
        pool.node("a").dial(generous);
        pool.world.run(0);
        pool.lead(generous, 7).talkTo(generous);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        generous.crash();

        long predecessorUntilMs = pool.world.nowMs() + 2_000;
        pool.world.taken(Scenario.authority(8));
        next.lead(new Term(Scenario.authority(8), 1L << 40, predecessorUntilMs, Succession.NONE, Register.NONE));
        pool.world.run(61_900);
        pool.talkTo(next);
        assertThat(pool.remove("k", false)).as("2 s and 60 s").isEqualTo(Status.HAS_LEASE);
        pool.world.run(200);
        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);
    }

    @Test
    void whoHandsOverAnswersWhoWaitsAndNobodyElse() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        GrantReply grant = pool.grant("k", 100);
        List<Long> committed = pool.write(grant, "k", 100);
        MasterCore core = pool.talkedTo().core();

        assertThat(core.leave()).isEqualTo(Scenario.authority(7));
        long late = pool.publish(grant.grants().getFirst().objectId(), "k", committed);

        assertThat(pool.published(late)).isEqualTo(Status.NOT_LEADER);
        assertThat(pool.put("other", 100)).isEqualTo(Status.NOT_LEADER);
        assertThat(core.hasWaiting()).isFalse();

        ModelMaster standby = pool.master();
        pool.talkedTo().standBy();
        pool.lead(standby, 8).talkTo(standby);
        assertThat(pool.published(pool.publish(grant.grants().getFirst().objectId(), "k", committed)))
                .as("asked again")
                .isEqualTo(Status.OK);
    }

    @Test
    void whoWaitsForANodeIsStillAnsweredDuringTheHandOver() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        GrantReply grant = pool.grant("k", 100);
        ObjectId id = grant.grants().getFirst().objectId();
        long waiting = pool.publish(id, "k", List.of(pool.node("a").incarnation()));
        MasterCore core = pool.talkedTo().core();
        core.leave();
        assertThat(core.hasWaiting()).isTrue();

        pool.write(grant, "k", 100);
        pool.world.run(0);

        assertThat(pool.published(waiting)).isEqualTo(Status.OK);
        assertThat(core.hasWaiting()).isFalse();
    }
}
