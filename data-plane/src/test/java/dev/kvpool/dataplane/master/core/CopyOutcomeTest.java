// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.report.PoolStatus.NodeState;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An object whose last known replica goes while a copy of it is under way is lost only when that copy does not come. */
class CopyOutcomeTest {
    private static final long MIB = 1 << 20;

    /** "k" is on "a" alone, and "b" is told to copy it; "c" is there and has nothing. */
    private static Scenario copying(boolean committed, long epochOfCopy) {
        Scenario pool =
                new Scenario().withNodes(MIB, "a", "b", "c").withReplicas(2).leading(7);
        pool.crash("b");
        pool.crash("c");
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        if (epochOfCopy > 7) {
            ModelMaster next = pool.master();
            pool.lead(next, epochOfCopy).talkTo(next);
            pool.world.run(Bounds.COLD_WAIT_MS);
            pool.talkTo(next);
        }
        pool.restart("b");
        if (committed) {
            pool.node("b").hold(true);
        } else {
            pool.node("b").mute(true);
        }
        while (pool.talkedTo().status().copiesUnderWay() == 0) {
            pool.world.run(10);
        }
        assertThat(pool.node("b").directory()).hasSize(committed ? 1 : 0);
        pool.restart("c");
        return pool;
    }

    private static Scenario copying(boolean committed) {
        return copying(committed, 7);
    }

    /** The source comes back empty. */
    private static void loseSource(Scenario pool) {
        pool.crash("a");
        pool.node("a").wipe();
        pool.restart("a");
    }

    private static void assertUnavailable(Scenario pool) {
        assertThat(pool.find("k").status()).isEqualTo(Status.UNAVAILABLE);
        assertThat(pool.exists("k")).isEqualTo(Status.NOT_FOUND);
    }

    /** The copy may be of an object of an earlier leader, or of one that this leader granted. */
    @ParameterizedTest
    @ValueSource(longs = {7, 8})
    void whatWasCopiedLivesOn(long epoch) {
        Scenario pool = copying(true, epoch);
        loseSource(pool);
        assertUnavailable(pool);

        pool.node("b").hold(false);
        pool.world.run(20);

        assertThat(pool.find("k").payloadLength()).isEqualTo(100);
        assertThat(pool.talkedTo().core().holders(Key.of("k"))).contains("b");
        assertThat(pool.talkedTo().status().unavailableObjects()).isZero();
    }

    @Test
    void whatCannotBeCopiedAnyMoreIsLost() {
        Scenario pool = copying(false);
        loseSource(pool);
        assertUnavailable(pool);

        pool.node("b").mute(false);
        pool.world.run(20);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.talkedTo().status().objects()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {7, 8})
    void aTargetThatIsCutOffTellsWhenItIsBack(long epoch) {
        Scenario pool = copying(true, epoch);
        loseSource(pool);
        pool.node("b").hangUp(pool.talkedTo());
        pool.world.run(20);
        assertUnavailable(pool);

        pool.node("b").dial(pool.talkedTo());
        pool.world.run(20);

        assertThat(pool.find("k").payloadLength()).isEqualTo(100);
    }

    @Test
    void aTargetThatDiedBeforeItCopiedHasLostIt() {
        Scenario pool = copying(false);
        loseSource(pool);
        pool.crash("b");
        assertUnavailable(pool);

        pool.node("b").mute(false);
        pool.restart("b");
        pool.world.run(20);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.talkedTo().status().objects()).isZero();
    }

    @Test
    void aTargetThatIsNotExpectedAnyMoreIsNotWaitedFor() {
        Scenario pool = copying(false);
        loseSource(pool);
        pool.crash("b");
        assertUnavailable(pool);

        pool.expectOnly("a", "c");
        pool.pass(Bounds.UNEXPECTED_AWAY_MS + 2 * Bounds.HEARTBEAT_MS);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.talkedTo().status().objects()).isZero();
    }

    @Test
    void aTargetThatDoesNotAnswerIsWaitedForNoLongerThanACopyMayTake() {
        Scenario pool = copying(false);
        pool.node("b").heartbeatEvery(500);
        loseSource(pool);
        pool.pass(Bounds.COPY_WAIT_MS - 5_000);
        assertUnavailable(pool);

        pool.pass(5_000);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void aPutMeanwhileHasTheKeyAndTheCopyIsFreed() {
        Scenario pool = copying(true);
        loseSource(pool);
        assertThat(pool.put("k", 200)).isEqualTo(Status.OK);

        pool.node("b").hold(false);
        pool.world.run(100);

        assertThat(pool.find("k").payloadLength()).isEqualTo(200);
        assertThat(pool.node("b").directory()).allMatch(record -> record.payloadLength() == 200);
    }

    @Test
    void aPutWhileARemovalWaitsForTheCopyStays() {
        Scenario pool = copying(true);
        long removal = pool.beginRemoval("k", true);
        assertThat(pool.isAnswered(removal)).isFalse();
        GrantReply granted = pool.grantPreferring("k", "c");
        ObjectId later = granted.grants().getFirst().objectId();
        assertThat(pool.published(pool.publish(later, "k", pool.write(granted, "k", 100))))
                .isEqualTo(Status.OK);

        pool.node("b").hold(false);
        pool.world.run(100);

        assertThat(pool.reply(removal, RemoveReply.class).results()).containsExactly(Status.OK);
        assertThat(pool.find("k").objectId()).isEqualTo(later);
    }

    @Test
    void aRemovalMeanwhileHoldsWhenTheTargetIsBack() {
        Scenario pool = copying(true);
        loseSource(pool);
        pool.node("b").hangUp(pool.talkedTo());
        pool.world.run(20);
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);

        pool.node("b").dial(pool.talkedTo());
        pool.world.run(100);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node("b").directory()).isEmpty();
    }

    /** The node makes it after all, and the leader dies before it sees that. */
    @Test
    void aRemovalHoldsAfterACopyThatWasGivenUp() {
        Scenario pool = copying(false);
        pool.node("b").heartbeatEvery(500);
        ObjectId id = pool.find("k").objectId();
        pool.pass(Bounds.COPY_WAIT_MS);
        assertThat(pool.talkedTo().status().nodes()).as("also b").allMatch(node -> node.state() == NodeState.READY);
        pool.node("b").mute(false);
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);

        pool.node("b").hangUp(pool.talkedTo());
        pool.node("b").keep(id, Key.of("k"), 100, Retention.NONE);
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.pass(Bounds.COLD_WAIT_MS);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void theWaitEndsWithTheTerm() {
        Scenario pool = copying(false);
        loseSource(pool);
        assertUnavailable(pool);

        pool.standBy();

        assertThat(pool.talkedTo().status().objects()).isZero();
    }
}
