// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a client leaves behind that dies between write and publish is found and freed; a writer that is only slow is not hurt. */
class UnfinishedPutTest {
    private static final long MIB = 1 << 20;
    private static final long DEADLINE_MS = 5_000;

    private static Scenario pool() {
        return new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
    }

    private static ObjectId id(GrantReply grant) {
        return grant.grants().getFirst().objectId();
    }

    private static int objects(Scenario pool) {
        return pool.node("a").directory().size() + pool.node("b").directory().size();
    }

    @Test
    void whatWasWrittenAndNeverPublishedIsFreedAfterTheGrace() {
        Scenario pool = pool();
        GrantReply grant = pool.grant("k", 100, DEADLINE_MS);
        pool.write(grant, "k", 100);

        pool.world.run(DEADLINE_MS + Bounds.GRANT_GRACE_MS - 100);
        assertThat(objects(pool)).isEqualTo(2);
        pool.world.run(200);

        assertThat(objects(pool)).isZero();
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.talkedTo().status().grantsUnderWay()).isZero();
    }

    @Test
    void aSlowWriterThatPublishesWithinTheGraceSucceeds() {
        Scenario pool = pool();
        GrantReply grant = pool.grant("k", 100, DEADLINE_MS);
        pool.world.run(DEADLINE_MS + Bounds.GRANT_GRACE_MS - 500);

        List<Long> written = pool.write(grant, "k", 100);

        assertThat(pool.published(pool.publish(id(grant), "k", written))).isEqualTo(Status.OK);
        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
    }

    @Test
    void aWriterThatComesAfterTheGraceLeavesNothing() {
        Scenario pool = pool();
        GrantReply grant = pool.grant("k", 100, DEADLINE_MS);
        pool.world.run(DEADLINE_MS + Bounds.GRANT_GRACE_MS + 100);

        List<Long> written = pool.write(grant, "k", 100);

        assertThat(pool.published(pool.publish(id(grant), "k", written))).isEqualTo(Status.STALE_EPOCH);
        assertThat(objects(pool)).isZero();
        assertThat(pool.talkedTo().status().counters().get(Count.LEFT_OVERS)).isPositive();
    }

    @Test
    void aSlowWriterWhoseKeyAnotherOneTookDoesNotDisturbIt() {
        Scenario pool = pool();
        GrantReply slow = pool.grant("k", 100, DEADLINE_MS);
        pool.world.run(DEADLINE_MS);
        assertThat(pool.put("k", 200)).isEqualTo(Status.OK);

        List<Long> written = pool.write(slow, "k", 100);
        pool.world.run(0);

        assertThat(pool.published(pool.publish(id(slow), "k", written))).isEqualTo(Status.EXISTS);
        assertThat(pool.find("k").payloadLength()).isEqualTo(200);
        assertThat(objects(pool))
                .as("both copies of the other, none of the slow one")
                .isEqualTo(2);
    }

    @Test
    void aSlowWriterOfAFormerLeaderIsRefusedByTheNodes() {
        Scenario pool = pool();
        GrantReply slow = pool.grant("k", 100, DEADLINE_MS);
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);

        assertThat(pool.write(slow, "k", 100)).isEmpty();
        assertThat(pool.put("k", 200)).isEqualTo(Status.OK);
        assertThat(pool.find("k").payloadLength()).isEqualTo(200);
    }

    @Test
    void theExtentOfASecondWriterIsNotFreedInPlaceOfTheFirstOnes() {
        Scenario pool = pool();
        GrantReply dead = pool.grant("k", 100, DEADLINE_MS);
        pool.write(dead, "k", 100);
        pool.node("a").mute(true);
        pool.world.run(DEADLINE_MS + Bounds.GRANT_GRACE_MS - 7_500);
        pool.node("a").mute(false);
        pool.world.run(7_600);
        assertThat(pool.put("k", 200)).isEqualTo(Status.OK);
        pool.world.run(1_000);

        assertThat(pool.find("k").payloadLength()).isEqualTo(200);
        assertThat(objects(pool)).isEqualTo(2);
    }

    @Test
    void nodesHearBelowWhichGrantsAreOver() {
        Scenario pool = pool();
        pool.world.run(Bounds.NODE_BEAT_MS);
        assertThat(pool.node("a").oldestGrant()).as("none was given").isEqualTo(new ObjectId(7, 1));

        ObjectId open = id(pool.grant("open", 100, DEADLINE_MS));
        pool.put("k", 100);
        pool.remove("k", true);
        ObjectId last = id(pool.grant("last", 100, 2 * DEADLINE_MS));
        pool.world.run(Bounds.NODE_BEAT_MS);
        assertThat(pool.node("a").oldestGrant())
                .as("of k is over, but not the one before")
                .isEqualTo(open);

        pool.crash("a");
        pool.restart("a");
        assertThat(pool.node("a").oldestGrant())
                .as("at once after it is fenced")
                .isEqualTo(open);

        pool.world.run(DEADLINE_MS + Bounds.GRANT_GRACE_MS + Bounds.NODE_BEAT_MS);
        assertThat(pool.node("a").oldestGrant()).isEqualTo(last);
        pool.world.run(DEADLINE_MS + Bounds.NODE_BEAT_MS);
        assertThat(pool.node("a").oldestGrant().isNewerThan(last))
                .as("nothing is open")
                .isTrue();

        pool.lead(pool.talkedTo(), 8);
        pool.world.run(Bounds.NODE_BEAT_MS);
        assertThat(pool.node("a").oldestGrant()).as("of the next leader").isEqualTo(new ObjectId(8, 1));
    }
}
