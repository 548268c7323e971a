// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Consistency;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Removals while nodes are away hold, whoever returns and whoever leads. */
class TombstoneTest {
    private static final long MIB = 1 << 20;

    /** Three nodes, each with a copy of "k", and the last of them gone. */
    private static Scenario oneAway() {
        Scenario pool =
                new Scenario().withNodes(MIB, "a", "b", "c").withReplicas(3).leading(7);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.crash("c");
        return pool;
    }

    private static List<String> tombstones(Scenario pool, String node) {
        return pool.node(node).tombstones().stream()
                .map(DirectoryRecord::key)
                .map(Key::toString)
                .toList();
    }

    @Test
    void aForcedRemovalIsWrittenDownForTheNodeThatMissesIt() {
        Scenario pool = oneAway();

        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node("a").directory()).isEmpty();
        assertThat(tombstones(pool, "a")).containsExactly("k");
        assertThat(tombstones(pool, "b")).containsExactly("k");
    }

    @Test
    void theNodeThatMissedItLosesItsCopyAndThenTheTombstoneIsLifted() {
        Scenario pool = oneAway();
        pool.remove("k", true);

        pool.restart("c");
        pool.world.run(100);

        assertThat(pool.node("c").directory()).isEmpty();
        assertThat(tombstones(pool, "a")).isEmpty();
        assertThat(tombstones(pool, "b")).isEmpty();
        assertThat(tombstones(pool, "c")).isEmpty();
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
    }

    @Test
    void anotherLeaderHoldsTheRemovalAgainstTheNodeThatMissedIt() {
        Scenario pool = oneAway();
        pool.remove("k", true);

        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS);
        pool.restart("c");

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        pool.world.run(60_000);
        assertThat(pool.node("c").directory()).isEmpty();
        assertThat(tombstones(pool, "a")).isEmpty();
        pool.talkTo(next);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void aLeaderThatHearsOneHolderOfTheTombstoneAndTheOldCopyDoesNotBringTheObjectBack() {
        Scenario pool = oneAway();
        pool.remove("k", true);
        pool.crash("a");
        pool.restart("c");

        ModelMaster next = pool.lonelyMaster();
        pool.node("c").dial(next);
        pool.node("b").dial(next);
        pool.world.run(0);
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        pool.world.run(60_000);
        assertThat(pool.node("c").directory()).isEmpty();
        assertThat(tombstones(pool, "b")).as("a has not confirmed").containsExactly("k");
    }

    @Test
    void soIsOneThatIsNotForced() {
        Scenario pool = oneAway();
        pool.world.run(Scenario.OBJECT_LEASE_MS);

        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);

        assertThat(tombstones(pool, "a")).containsExactly("k");
        pool.restart("c");
        pool.world.run(100);
        assertThat(pool.node("c").directory()).isEmpty();
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void andOneOfWhatOnlyNodesAwayHold() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        pool.put("k", 100);
        String holder = pool.talkedTo().core().holders(Key.of("k")).getFirst();
        pool.crash(holder);

        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        pool.restart(holder);
        pool.world.run(100);
        assertThat(pool.node(holder).directory()).isEmpty();
    }

    @Test
    void aReaderOfWhatANodeAwayHoldsKeepsItsLease() {
        Scenario pool = oneAway();
        pool.find("k");

        assertThat(pool.remove("k", false)).isEqualTo(Status.HAS_LEASE);
        pool.world.run(Scenario.OBJECT_LEASE_MS);

        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);
    }

    @Test
    void whatANodeAwayMayHoldUnseenGetsATombstoneToo() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        pool.crash("c");
        pool.put("k", 100);

        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);

        assertThat(tombstones(pool, "a")).containsExactly("k");
        assertThat(tombstones(pool, "b")).containsExactly("k");
        assertThat(pool.node("a").directory()).isEmpty();
        assertThat(pool.node("b").directory()).isEmpty();
    }

    @Test
    void oneNodeThatIsLeftWitnessesForTheOthers() {
        Scenario pool = oneAway();
        pool.crash("b");

        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);

        assertThat(pool.world.register().behind()).containsExactly("b", "c");
        pool.restart("b");
        pool.restart("c");
        pool.world.run(1_000);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.world.register().behind()).isEmpty();
    }

    @Test
    void nothingIsAcknowledgedBeforeTheRegisterSaysWhoIsBehind() {
        Scenario pool = oneAway();
        pool.world.cutLease(true);
        long request = pool.beginRemoval("k", true);
        pool.world.run(1_000);
        assertThat(pool.isAnswered(request)).isFalse();

        pool.world.cutLease(false);
        pool.world.run(100);
        assertThat(pool.reply(request, RemoveReply.class).results()).containsExactly(Status.OK);
    }

    @Test
    void aRemovalOfManyWaitsForWhatIsBeingWrittenDown() {
        Scenario pool = oneAway();
        pool.world.cutLease(true);
        GrantReply grant = pool.grant("k", 200, 30_000, true);
        pool.publish(grant.grants().getFirst().objectId(), "k", pool.write(grant, "k", 200));
        long request = pool.nextRequest();
        pool.send(new RemoveAllRequest(request, false, "^k"));
        pool.world.run(1_000);
        assertThat(pool.isAnswered(request)).isFalse();

        pool.world.cutLease(false);
        pool.world.run(100);
        RemoveAllReply reply = pool.reply(request, RemoveAllReply.class);
        assertThat(reply.status()).isEqualTo(Status.OK);
        assertThat(reply.removed()).isEqualTo(1);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    /** The next leader meets c alone, which is behind; the witness is away. */
    private static ModelMaster onlyCIsThere(Scenario pool) {
        pool.talkedTo().crash();
        pool.crash("a");

        ModelMaster next = pool.master();
        pool.restart("c");
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS + 100);
        return next;
    }

    /** With the witness away, no node knows what was removed; what the node shows that was away may be that. */
    @Test
    void withoutAWitnessWhatANodeShowsThatIsBehindIsNotRead() {
        Scenario pool = oneAway();
        pool.crash("b");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        ModelMaster next = onlyCIsThere(pool);
        assertThat(pool.find("k").status()).isEqualTo(Status.UNAVAILABLE);
        assertThat(next.status().register().awaitsWitness()).isTrue();
        assertThat(pool.put("new", 100)).isEqualTo(Status.OK);
        assertThat(pool.find("new").status()).isEqualTo(Status.OK);

        pool.restart("a");
        pool.world.run(100);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    /** Seed 13382: who asked again, or whose put had a newer one after it, was told that all was well. */
    @Test
    void aPutThatNobodyCouldBeToldOfIsNotAcknowledgedWhenItIsPublishedAgain() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c", "d").leading(7);
        List.of("a", "b", "c").forEach(pool::crash);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.crash("d");
        List.of("a", "b").forEach(pool::restart);
        assertThat(pool.put("x", 100)).isEqualTo(Status.OK);
        assertThat(pool.remove("x", true)).isEqualTo(Status.OK);
        pool.crash("b");
        pool.restart("d");
        onlyCIsThere(pool);
        pool.crash("d"); // it holds "k", and who knows the tombstones is away

        ObjectId first = replace(pool);
        assertThat(publish(pool, first)).isEqualTo(Status.UNAVAILABLE);
        replace(pool);
        assertThat(publish(pool, first)).isEqualTo(Status.UNAVAILABLE);

        pool.restart("a");
        pool.world.run(1_000);
        assertThat(publish(pool, first)).as("a newer one followed").isEqualTo(Status.EXISTS);
    }

    private static ObjectId replace(Scenario pool) {
        GrantReply grant = pool.grant("k", 200, 30_000, true);
        pool.write(grant, "k", 200);
        ObjectId id = grant.grants().getFirst().objectId();
        assertThat(publish(pool, id)).isEqualTo(Status.UNAVAILABLE);
        return id;
    }

    private static Status publish(Scenario pool, ObjectId id) {
        return pool.published(pool.publish(id, "k", List.of(pool.node("c").incarnation())));
    }

    /** The same where the pool serves what it cannot be sure of: the witness is not waited for. */
    @Test
    void availablePoolsServeWithoutAWitnessAndGoOnRemoving() {
        Scenario pool = new Scenario()
                .withNodes(MIB, "a", "b", "c")
                .withReplicas(3)
                .with(Consistency.AVAILABLE)
                .leading(7);
        pool.put("k", 100);
        pool.put("kept", 100);
        pool.crash("c");
        pool.crash("b");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        ModelMaster next = onlyCIsThere(pool);
        assertThat(pool.find("kept").status()).isEqualTo(Status.OK);
        assertThat(pool.find("k").status()).as("no witness knows better").isEqualTo(Status.OK);
        assertThat(next.status().register().awaitsWitness()).isFalse();
        assertThat(pool.remove("kept", true)).isEqualTo(Status.OK);
        assertThat(pool.world.register().witnesses().keySet()).containsExactly("c");

        pool.restart("a");
        pool.restart("b");
        pool.world.run(2_000);
        assertThat(pool.find("kept").status())
                .as("what was removed under this leader is gone")
                .isEqualTo(Status.NOT_FOUND);
        assertThat(pool.find("k").status()).as("its tombstone is back").isEqualTo(Status.NOT_FOUND);
        pool.world.run(60_000);
        assertThat(pool.world.register().behind()).isEmpty();
    }

    @Test
    void strictPoolsDoNotRemoveWithoutAWitness() {
        Scenario pool = oneAway();
        pool.crash("b");
        pool.put("kept", 100);
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        ModelMaster next = onlyCIsThere(pool);
        assertThat(pool.put("new", 100)).isEqualTo(Status.OK);
        assertThat(pool.remove("new", true)).isEqualTo(Status.UNAVAILABLE);
        assertThat(pool.removeMatching("n", true).status()).isEqualTo(Status.UNAVAILABLE);
        next.goBy(PlainSettings.rules(
                Scenario.OBJECT_LEASE_MS,
                EvictionRules.between(0.5, 0.9),
                3,
                Scenario.REPAIR_DELAY_MS,
                Scenario.REPAIR_BYTES_PER_SECOND,
                Consistency.AVAILABLE));
        assertThat(pool.remove("new", true)).as("the rule is live").isEqualTo(Status.OK);
    }

    @Test
    void aWitnessThatLostItsMemoryIsNone() {
        Scenario pool = oneAway();
        pool.crash("b");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        pool.talkedTo().crash();
        pool.crash("a");
        pool.node("a").wipe();

        ModelMaster next = pool.master();
        pool.restart("a");
        pool.restart("c");
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS + 100);
        assertThat(pool.find("k").status()).isEqualTo(Status.UNAVAILABLE);

        assertThat(next.core().forget("a", pool.world.nowMs())).isEmpty();
        pool.pass(1_000);
        assertThat(pool.find("k").status()).as("b may have what replaced it").isEqualTo(Status.UNAVAILABLE);
        assertThat(next.core().forget("b", pool.world.nowMs())).isEmpty();
        pool.pass(1_000);
        assertThat(pool.find("k").status()).as("a person trusts what is left").isEqualTo(Status.OK);
    }

    /** Where no other node is away that may have what replaced it. */
    @Test
    void whatAWitnessKnewIsNotKnownByItsName() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.crash("b");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        pool.talkedTo().crash();
        pool.crash("a");
        pool.node("a").wipe();

        ModelMaster next = pool.master();
        pool.restart("a");
        pool.restart("b");
        pool.lead(next, 8).talkTo(next);
        pool.world.run(100);
        assertThat(pool.find("k").status()).isEqualTo(Status.UNAVAILABLE);
        assertThat(next.status().register().awaitsWitness()).isTrue();
    }

    /** The leader knows every tombstone though no node in view has them all: it has another node keep them. */
    @Test
    void whenTheLastWitnessIsAwayOneThatWasBehindTakesItsPlace() {
        Scenario pool = oneAway();
        pool.crash("b");
        assertThat(pool.put("other", 100)).isEqualTo(Status.OK);
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        assertThat(pool.world.register().witnesses().keySet()).containsExactly("a");
        pool.crash("a");
        pool.restart("c");
        pool.world.run(1_000);

        assertThat(pool.world.register().witnesses().keySet()).contains("c");
        assertThat(tombstones(pool, "c")).containsExactly("k");
        assertThat(pool.put("last", 100)).isEqualTo(Status.OK);
        assertThat(pool.remove("last", true)).isEqualTo(Status.OK);
        pool.talkedTo().crash();
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS + 100);
        assertThat(next.status().register().awaitsWitness()).isFalse();
        pool.restart("a");
        pool.restart("b");
        pool.world.run(1_000);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.find("last").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.find("other").status()).isEqualTo(Status.OK);
    }

    @Test
    void aNodeThatIsForgottenDropsWhatItHoldsWhenItComes() {
        Scenario pool = oneAway();
        assertThat(pool.talkedTo().core().forget("c", pool.world.nowMs())).isEmpty();
        pool.world.run(100);
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        assertThat(pool.world.register().behind()).isEmpty();

        pool.restart("c");
        pool.world.run(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS + 1_000);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node("c").directory()).isEmpty();
        assertThat(pool.talkedTo().status().readyNodes()).isEqualTo(3);
    }

    @Test
    void withoutRoomForTheTombstoneTheObjectStays() {
        Scenario pool = new Scenario()
                .withNodes(ExtentSize.of(1, 100), "a", "b", "c")
                .withReplicas(3)
                .leading(7);
        pool.put("k", 100);
        pool.find("k");
        pool.crash("c");

        assertThat(pool.remove("k", true)).isEqualTo(Status.NO_SPACE);
    }

    @Test
    void tombstonesThatFindNoRoomTogetherAreTriedOneByOne() {
        long room = 6 * ExtentSize.of(3, 0);
        Scenario pool = new Scenario().withNodes(room, "a", "b", "c").leading(7);
        pool.crash("c");
        String[] keys = new String[8];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = "k-" + i;
        }

        List<Status> results = pool.removeEach(true, keys);

        assertThat(results).containsOnly(Status.OK, Status.NO_SPACE);
        assertThat(results.stream().filter(Status.OK::equals)).hasSize(6);
        assertThat(tombstones(pool, "a")).hasSize(6);
    }

    @Test
    void aPutAfterTheRemovalOutlivesTheTombstone() {
        Scenario pool = oneAway();
        pool.remove("k", true);
        assertThat(pool.put("k", 200)).isEqualTo(Status.OK);

        pool.restart("c");
        pool.world.run(100);

        assertThat(pool.find("k").payloadLength()).isEqualTo(200);
        assertThat(pool.node("c").directory()).allMatch(record -> record.payloadLength() == 200);
        assertThat(tombstones(pool, "a")).isEmpty();
    }

    @Test
    void aNodeThatLostItsMemoryGetsTheTombstonesAgain() {
        Scenario pool = oneAway();
        pool.remove("k", true);
        pool.crash("a");
        pool.node("a").wipe();
        pool.restart("a");
        pool.world.run(100);

        assertThat(tombstones(pool, "a")).containsExactly("k");
    }

    @Test
    void aLeaderThatFindsATombstoneOnAMinorityCompletesIt() {
        Scenario pool = oneAway();
        pool.node("b").mute(true);
        long request = pool.beginRemoval("k", true);
        assertThat(pool.isAnswered(request)).isFalse();
        assertThat(tombstones(pool, "a")).containsExactly("k");

        pool.talkedTo().crash();
        pool.node("b").mute(false);
        pool.world.run(0);
        assertThat(tombstones(pool, "b"))
                .as("the old leader's command is lost or not")
                .hasSizeLessThanOrEqualTo(1);
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS + 100);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(tombstones(pool, "b")).contains("k");
    }

    @Test
    void aWitnessLostDuringTheRemovalIsStruckOff() {
        Scenario pool = oneAway();
        pool.node("b").mute(true);
        long request = pool.beginRemoval("k", true);

        pool.crash("b");

        pool.world.run(100);
        assertThat(pool.reply(request, RemoveReply.class).results())
                .as("another witness is enough")
                .containsExactly(Status.OK);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.world.register().behind()).containsExactly("b", "c");
    }

    @Test
    void aReplicaThatIsShownAfterTheRemovalDoesNotBringItBackUnderTheNextLeader() {
        Scenario pool =
                new Scenario().withNodes(MIB, "a", "b", "c").withReplicas(2).leading(7);
        GrantReply grant = pool.grant("k", 100);
        ObjectId id = grant.grants().getFirst().objectId();
        ModelNode quick = pool.node(grant.nodes().get(0).nodeId());
        ModelNode late = pool.node(grant.nodes().get(1).nodeId());
        quick.write(grant.authority(), id, Key.of("k"), 100, 1);
        long request = pool.publish(id, "k", List.of(quick.incarnation(), late.incarnation()));
        pool.world.run(Bounds.PUBLISH_WAIT_MS + 10);
        assertThat(pool.published(request)).isEqualTo(Status.OK);
        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);

        pool.talkedTo().crash();
        late.write(grant.authority(), id, Key.of("k"), 100, 1);
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void aSlowWriterOfBeforeTheRemovalPublishesNothing() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        GrantReply slow = pool.grant("k", 100, 1_000);
        pool.world.run(1_000);
        pool.put("k", 200);
        pool.crash("c");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);

        List<Long> written = pool.write(slow, "k", 100);
        pool.world.run(0);

        Status published = pool.published(pool.publish(slow.grants().getFirst().objectId(), "k", written));
        assertThat(published).isNotEqualTo(Status.OK);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        pool.world.run(100);
        assertThat(pool.node("a").directory()).isEmpty();
        assertThat(pool.node("b").directory()).isEmpty();
    }

    @Test
    void aNodeThatIsNoLongerExpectedDoesNotKeepTombstonesAlive() {
        Scenario pool = oneAway();
        pool.remove("k", true);

        pool.expectOnly("a", "b");
        pool.world.run(Bounds.UNEXPECTED_AWAY_MS + 1_000);

        assertThat(tombstones(pool, "a")).isEmpty();
        assertThat(tombstones(pool, "b")).isEmpty();
    }

    @Test
    void anOlderObjectThatAReaderStillHasDoesNotComeBackUnderTheNextLeader() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        pool.put("k", 100);
        pool.find("k");
        String holder = pool.talkedTo().core().holders(Key.of("k")).getFirst();
        pool.crash(holder);
        assertThat(pool.put("k", 200)).isEqualTo(Status.OK);
        pool.restart(holder);
        assertThat(pool.node(holder).directory()).as("quarantined").hasSize(1);
        assertThat(pool.remove("k", false)).isEqualTo(Status.HAS_LEASE);
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);

        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        pool.world.run(60_000);
        assertThat(pool.node(holder).directory()).isEmpty();
        assertThat(tombstones(pool, "a")).isEmpty();
    }

    @Test
    void whatIsEvictedAndNotFreedYetDoesNotOutliveItsRemoval() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        pool.put("k", 100);
        String holder = pool.talkedTo().core().holders(Key.of("k")).getFirst();
        pool.node(holder).mute(true);
        for (int i = 0; isThere(pool, "k"); i++) {
            assertThat(pool.put("other-" + i, 50_000)).isEqualTo(Status.OK);
            pool.world.run(20);
        }
        assertThat(pool.node(holder).directory())
                .as("evicted, not freed")
                .anyMatch(record -> record.key().equals(Key.of("k")));

        long request = pool.beginRemoval("k", false);
        assertThat(pool.isAnswered(request)).as("its node has not confirmed").isFalse();
        pool.crash(holder);
        pool.world.run(100);
        assertThat(pool.reply(request, RemoveReply.class).results()).containsExactly(Status.NOT_FOUND);
        pool.talkedTo().crash();
        pool.node(holder).mute(false);
        pool.restart(holder);
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    private static boolean isThere(Scenario pool, String key) {
        return !pool.talkedTo().core().holders(Key.of(key)).isEmpty();
    }

    @Test
    void tombstonesTakeRoomOfTheirNode() {
        Scenario pool = oneAway();
        long before = usedBytes(pool);

        pool.remove("k", true);

        assertThat(usedBytes(pool)).isEqualTo(before - 2 * ExtentSize.of(1, 100) + 2 * ExtentSize.of(1, 0));
        assertThat(pool.talkedTo().status().tombstones()).isEqualTo(1);
    }

    private static long usedBytes(Scenario pool) {
        return pool.talkedTo().status().usedBytes();
    }
}
