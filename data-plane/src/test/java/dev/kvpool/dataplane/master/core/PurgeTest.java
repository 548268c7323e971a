// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Removing everything holds, whoever was away and whoever leads. */
class PurgeTest {
    private static final long MIB = 1 << 20;

    private static Scenario filled(int keys) {
        Scenario pool =
                new Scenario().withNodes(MIB, "a", "b", "c").withReplicas(2).leading(7);
        for (int i = 0; i < keys; i++) {
            assertThat(pool.put("k" + i, 100)).isEqualTo(Status.OK);
        }
        return pool;
    }

    private static int objects(Scenario pool) {
        return pool.nodes.values().stream()
                .mapToInt(node -> node.directory().size())
                .sum();
    }

    @Test
    void oneNumberEmptiesThePool() {
        Scenario pool = filled(50);

        RemoveAllReply reply = pool.removeAll(false);

        assertThat(reply.status()).isEqualTo(Status.OK);
        assertThat(reply.removed()).isEqualTo(50);
        assertThat(objects(pool)).isZero();
        assertThat(pool.talkedTo().status().objects()).isZero();
        assertThat(pool.node("a").purgeId()).isEqualTo(pool.node("b").purgeId());
        assertThat(pool.removeAll(true).removed()).isZero();
    }

    @Test
    void whatIsPurgedIsOutOfSightBeforeItsNodesAnswer() {
        Scenario pool = filled(5);
        pool.nodes.values().forEach(node -> node.mute(true));

        long request = pool.nextRequest();
        pool.send(new RemoveAllRequest(request, true, ""));
        pool.world.run(50);

        assertThat(pool.isAnswered(request)).isFalse();
        assertThat(pool.exists("k1")).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.find("k2").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.grant("k3", 100).grants().getFirst().status()).isEqualTo(Status.OK);
    }

    @Test
    void theNodeAwayDropsItBeforeItTakesPart() {
        Scenario pool = filled(20);
        pool.crash("c");
        assertThat(pool.node("c").directory()).isNotEmpty();

        assertThat(pool.removeAll(true).status()).isEqualTo(Status.OK);
        pool.restart("c");

        assertThat(objects(pool)).isZero();
        for (int i = 0; i < 20; i++) {
            assertThat(pool.find("k" + i).status()).isEqualTo(Status.NOT_FOUND);
        }
    }

    @Test
    void anotherLeaderHoldsThePurgeAgainstTheNodeThatMissedIt() {
        Scenario pool = filled(20);
        pool.crash("c");
        pool.removeAll(true);
        pool.crash("a");
        pool.restart("c");

        ModelMaster next = pool.lonelyMaster();
        pool.node("b").dial(next);
        pool.node("c").dial(next);
        pool.world.run(0);
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS);

        assertThat(pool.node("c").directory()).isEmpty();
        assertThat(next.status().objects()).isZero();
    }

    /** Its connections to the nodes are older than the purge: only their answers to its fence tell of it. */
    @Test
    void aStandbyThatWatchedThePurgeHoldsItAgainstTheNodeThatMissedIt() {
        Scenario pool = filled(20);
        ModelMaster standby = pool.master();
        pool.crash("c");
        assertThat(pool.removeAll(true).status()).isEqualTo(Status.OK);
        pool.talkedTo().crash();

        pool.lead(standby, 8).talkTo(standby);
        pool.world.run(Bounds.COLD_WAIT_MS);
        pool.restart("c");

        assertThat(pool.node("c").directory()).isEmpty();
        for (int i = 0; i < 20; i++) {
            assertThat(pool.find("k" + i).status()).isEqualTo(Status.NOT_FOUND);
        }
    }

    @Test
    void aPurgeThatReachedOneNodeIsFinishedByWhoeverHearsOfIt() {
        Scenario pool = filled(20);
        pool.node("b").mute(true);
        pool.node("c").mute(true);
        pool.send(new RemoveAllRequest(pool.nextRequest(), true, ""));
        pool.world.run(20);
        assertThat(pool.node("a").purgeId()).isNotEqualTo(ObjectId.NONE);
        pool.talkedTo().crash();
        pool.crash("a");
        pool.node("b").mute(false);
        pool.node("c").mute(false);

        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS);
        pool.restart("a");
        pool.world.run(60_000);

        assertThat(objects(pool)).isZero();
        assertThat(pool.node("b").purgeId()).isEqualTo(pool.node("a").purgeId());
    }

    @Test
    void whoeverLeadsNextKnowsOfItThoughEveryNodeThatHeardItIsAway() {
        Scenario pool = filled(5);
        pool.crash("b");
        pool.crash("c");

        assertThat(pool.removeAll(true).status()).isEqualTo(Status.OK);
        pool.talkedTo().crash();
        pool.crash("a");
        ModelMaster next = pool.master();
        pool.restart("b");
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS);

        assertThat(pool.node("b").directory()).isEmpty();
    }

    @Test
    void noNodeHearsOfItBeforeTheRegisterHasIt() {
        Scenario pool = filled(5);
        pool.world.cutLease(true);

        long request = pool.nextRequest();
        pool.send(new RemoveAllRequest(request, true, ""));
        pool.world.run(1_000);
        assertThat(pool.isAnswered(request)).isFalse();
        assertThat(pool.node("a").purgeId()).isEqualTo(ObjectId.NONE);

        pool.standBy();
        pool.lead(pool.talkedTo(), 8);
        pool.world.run(1_000);
        assertThat(pool.find("k1").status()).as("it had no effect").isEqualTo(Status.OK);
    }

    @Test
    void aPutUnderWayFailsAndItsNextTrySucceeds() {
        Scenario pool = filled(1);
        GrantReply grant = pool.grant("new", 100);
        pool.removeAll(true);

        List<Long> written = pool.write(grant, "new", 100);

        assertThat(written).isEmpty();
        assertThat(pool.published(pool.publish(grant.grants().getFirst().objectId(), "new", written)))
                .isEqualTo(Status.STALE_EPOCH);
        assertThat(pool.put("new", 100)).isEqualTo(Status.OK);
        assertThat(pool.find("new").status()).isEqualTo(Status.OK);
    }

    @Test
    void tombstonesOfBeforeGoToo() {
        Scenario pool = filled(1);
        pool.crash("c");
        pool.remove("other", true);
        assertThat(pool.node("a").tombstones()).hasSize(1);

        pool.removeAll(true);

        assertThat(pool.node("a").tombstones()).isEmpty();
        assertThat(pool.talkedTo().status().tombstones()).isZero();
    }

    /** Seed 13779: the leader wanted a new witness to keep them, which no node does, and waited for ever for one that was gone. */
    @Test
    void tombstonesOfBeforeThatANodeAwayHadAreNotWantedOfTheNextWitness() {
        Scenario pool = filled(1);
        pool.crash("c");
        assertThat(pool.remove("k0", true)).isEqualTo(Status.OK);
        assertThat(pool.world.register().witnesses()).containsOnlyKeys("a", "b");
        pool.crash("b");
        assertThat(pool.removeAll(true).status()).isEqualTo(Status.OK);
        pool.node("b").wipe();
        pool.restart("b");
        pool.pass(5_000);

        assertThat(pool.world.register().witnesses()).containsOnlyKeys("a", "b");
        assertThat(pool.talkedTo().status().tombstones()).isZero();
    }

    @Test
    void leasedObjectsStayWithoutForceAndEverythingElseGoes() {
        Scenario pool = filled(50);
        pool.exists("k7");

        long request = pool.nextRequest();
        pool.send(new RemoveAllRequest(request, false, ""));
        pool.world.run(100);

        RemoveAllReply reply = pool.reply(request, RemoveAllReply.class);
        assertThat(reply.status()).isEqualTo(Status.OK);
        assertThat(reply.removed()).isEqualTo(49);
        assertThat(pool.find("k7").status()).isEqualTo(Status.OK);
        assertThat(objects(pool)).isEqualTo(2);
    }

    @Test
    void whatIsPutWhileEverythingIsRemovedObjectByObjectStays() {
        Scenario pool = filled(50);
        pool.exists("k7");

        pool.send(new RemoveAllRequest(pool.nextRequest(), false, ""));
        pool.put("late", 100);
        pool.world.run(100);

        assertThat(pool.find("late").status()).isEqualTo(Status.OK);
    }
}
