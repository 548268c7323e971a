// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An object that an earlier leader's put left on a node that was away, which comes back while a newer one of its key is removed. */
class EarlierObjectsTest {
    private static final long MIB = 1 << 20;

    private static final Retention GROUP_A = Retention.of(false, false, 0, 0xaf63dc4c8601ec8cL);

    /** What earlier leaders may have promised ends within this time. */
    private static final long LEASES_OF_BEFORE_MS = Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS + 1_000;

    /** "k" of 100 bytes is on "d", which is away; of 200 bytes on "a", and "b" is told to copy that one. */
    private static Scenario copyingWhatReplaced() {
        return copyingWhatReplaced(Retention.NONE);
    }

    private static Scenario copyingWhatReplaced(Retention kept) {
        Scenario pool = new Scenario()
                .withNodes(MIB, "a", "b", "c", "d")
                .withReplicas(2)
                .leading(7);
        pool.crash("a");
        pool.crash("b");
        pool.crash("c");
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.crash("d");
        pool.talkedTo().crash();
        pool.restart("a");
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS);
        pool.talkTo(next);
        pool.keeping(kept);
        assertThat(pool.put("k", 200)).isEqualTo(Status.OK);
        pool.keeping(Retention.NONE);
        pool.restart("b");
        pool.node("b").hold(true);
        pool.restart("c");
        while (next.status().copiesUnderWay() == 0) {
            pool.world.run(10);
        }
        return pool;
    }

    @Test
    void itIsNotShownWhileTheRemovalWaits() {
        Scenario pool = copyingWhatReplaced();
        long removal = pool.beginRemoval("k", true);
        pool.restart("d");
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        pool.world.run(100);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.isAnswered(removal)).isFalse();

        pool.node("b").hold(false);
        pool.world.run(1_000);

        assertThat(pool.reply(removal, RemoveReply.class).results()).containsExactly(Status.OK);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        pool.pass(LEASES_OF_BEFORE_MS);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node("d").directory()).isEmpty();
    }

    @Test
    void itDoesNotTakeThePlaceOfWhatCouldNotBeRemoved() {
        Scenario pool = copyingWhatReplaced();
        long removal = pool.beginRemoval("k", true);
        pool.restart("d");
        pool.world.run(100);
        pool.world.cutLease(true);
        pool.crash("c");

        pool.node("b").hold(false);
        pool.pass(Bounds.COMMAND_WAIT_MS + 1_000);

        assertThat(pool.reply(removal, RemoveReply.class).results()).containsExactly(Status.UNAVAILABLE);
        assertThat(pool.find("k").payloadLength()).isEqualTo(200);
    }

    @Test
    void whatCouldNotBeRemovedIsInItsGroupAgain() {
        Scenario pool = copyingWhatReplaced(GROUP_A);
        long removal = pool.beginRemoval("k", true);
        pool.keeping(Retention.of(false, false, 0, 5));
        for (int i = 0; i < 100; i++) {
            GrantReply put = pool.grant("other" + i, 100);
            pool.publish(put.grants().getFirst().objectId(), "other" + i, pool.write(put, "other" + i, 100));
        }
        pool.pass(Bounds.PUBLISH_WAIT_MS);
        pool.world.cutLease(true);
        pool.crash("c");
        pool.node("b").hold(false);
        pool.pass(Bounds.COMMAND_WAIT_MS + 1_000);
        assertThat(pool.reply(removal, RemoveReply.class).results()).containsExactly(Status.UNAVAILABLE);
        pool.world.cutLease(false);
        pool.restart("c");
        pool.restart("d");
        pool.pass(LEASES_OF_BEFORE_MS);

        assertThat(pool.removeGroup("a", true)).isEqualTo(Status.OK);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void aPutThatItsWriterLeftBehindIsNotPublishedWhileTheRemovalWaits() {
        Scenario pool = copyingWhatReplaced();
        GrantReply put = pool.grant("k", 300, 30_000, true);
        List<Long> written = pool.write(put, "k", 300);
        pool.disconnect();
        pool.talkTo(pool.talkedTo());
        long removal = pool.beginRemoval("k", true);

        ObjectId id = put.grants().getFirst().objectId();
        assertThat(pool.published(pool.publish(id, "k", written))).isEqualTo(Status.STALE_EPOCH);
        pool.node("b").hold(false);
        pool.world.run(1_000);

        assertThat(pool.reply(removal, RemoveReply.class).results()).containsExactly(Status.OK);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node("c").directory()).noneMatch(record -> record.payloadLength() == 300);
    }

    @Test
    void aPutMeanwhileStaysAlsoWhenTheRemovalIsWrittenDown() {
        Scenario pool = copyingWhatReplaced();
        long removal = pool.beginRemoval("k", true);
        assertThat(pool.put("k", 300)).isEqualTo(Status.OK);

        pool.node("b").hold(false);
        pool.world.run(1_000);

        assertThat(pool.reply(removal, RemoveReply.class).results()).containsExactly(Status.OK);
        assertThat(pool.find("k").payloadLength()).isEqualTo(300);
        pool.restart("d");
        pool.pass(LEASES_OF_BEFORE_MS);
        assertThat(pool.find("k").payloadLength()).isEqualTo(300);
        assertThat(pool.node("d").directory()).allMatch(record -> record.payloadLength() == 300);
    }
}
