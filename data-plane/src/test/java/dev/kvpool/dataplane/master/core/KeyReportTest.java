// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.report.KeyStatus;
import dev.kvpool.dataplane.master.core.report.KeyStatus.Cause;
import dev.kvpool.dataplane.master.core.report.KeyStatus.Holder;
import dev.kvpool.dataplane.master.core.report.KeyStatus.State;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.nativelib.Status;
import org.junit.jupiter.api.Test;

/** Whether a key is in the pool, where, and if not, why. */
class KeyReportTest {
    private static final long MIB = 1 << 20;

    /** Key of at most 64 bytes and 1000 bytes of payload: 64 + 1024. */
    private static final long TEN_OBJECTS = 10 * 1088;

    private static KeyStatus why(Scenario pool, String key) {
        return pool.talkedTo().core().explain(Key.of(key), pool.world.nowMs()).orElseThrow();
    }

    @Test
    void aKeyThatIsThereSaysWhere() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        pool.put("k", 100);

        KeyStatus status = why(pool, "k");

        assertThat(status.state()).isEqualTo(State.READABLE);
        assertThat(status.cause()).isEqualTo(Cause.NONE);
        assertThat(status.bytes()).hasValue(100);
        assertThat(status.leased()).isFalse();
        assertThat(status.goneForMs()).isEmpty();
        assertThat(status.holders())
                .containsExactly(new Holder("a", true, true, false, false), new Holder("b", true, true, false, false));
    }

    @Test
    void beingAskedIsNoReading() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);

        why(pool, "k");
        why(pool, "none");

        assertThat(why(pool, "k").leased()).isFalse();
        assertThat(pool.remove("k", false)).as("nothing is leased").isEqualTo(Status.OK);
        assertThat(pool.talkedTo().status().counters().get(Count.LOOKUP_NEVER_PUT))
                .isZero();
    }

    @Test
    void aReaderIsSeenByItsLease() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        pool.find("k");

        assertThat(why(pool, "k").leased()).isTrue();
    }

    @Test
    void aKeyThatNobodyPutIsUnknown() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.world.run(3_000);

        KeyStatus status = why(pool, "none");

        assertThat(status.state()).isEqualTo(State.ABSENT);
        assertThat(status.cause()).isEqualTo(Cause.UNKNOWN);
        assertThat(status.goneForMs()).isEmpty();
        assertThat(status.unheard()).isEmpty();
        assertThat(status.remembersForMs()).isEqualTo(3_000);
    }

    @Test
    void aRemovedKeySaysWhen() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        pool.remove("k", true);
        pool.world.run(2_000);

        KeyStatus status = why(pool, "k");

        assertThat(status.state()).isEqualTo(State.ABSENT);
        assertThat(status.cause()).isEqualTo(Cause.REMOVED);
        assertThat(status.goneForMs()).hasValue(2_000);
        assertThat(status.holders()).isEmpty();
    }

    @Test
    void anEvictedKeySaysWhen() {
        Scenario pool = new Scenario().withNodes(TEN_OBJECTS, "a").leading(7);
        for (int i = 0; i < 9; i++) {
            pool.put("k" + i, 1000);
        }
        pool.put("one more", 1000);
        pool.world.run(5_000);

        KeyStatus status = why(pool, "k0");

        assertThat(status.cause()).isEqualTo(Cause.EVICTED);
        assertThat(status.goneForMs().orElseThrow()).isBetween(4_900L, 5_000L);
        assertThat(why(pool, "one more").state()).isEqualTo(State.READABLE);
    }

    @Test
    void removingEverythingIsRememberedOnceForAll() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        assertThat(why(pool, "k").purgedForMs()).isEmpty();

        pool.removeAll(true);
        pool.world.run(1_000);

        KeyStatus status = why(pool, "k");
        assertThat(status.state()).isEqualTo(State.ABSENT);
        assertThat(status.cause()).as("not lost: it was removed with all").isEqualTo(Cause.UNKNOWN);
        assertThat(status.purgedForMs()).hasValue(1_000);
    }

    @Test
    void whatOnlyANodeAwayHoldsIsUnavailable() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        pool.crash("a");

        KeyStatus status = why(pool, "k");

        assertThat(status.state()).isEqualTo(State.UNAVAILABLE);
        assertThat(status.cause()).isEqualTo(Cause.NODES_AWAY);
        assertThat(status.holders()).containsExactly(new Holder("a", true, false, false, false));
    }

    @Test
    void whatANodeLostWithItsMemoryIsLost() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        pool.crash("a");
        pool.node("a").wipe();
        pool.restart("a");
        pool.world.run(1_000);

        KeyStatus status = why(pool, "k");

        assertThat(status.state()).isEqualTo(State.ABSENT);
        assertThat(status.cause()).isEqualTo(Cause.LOST);
        assertThat(status.goneForMs()).isPresent();
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.talkedTo().status().counters().get(Count.LOOKUP_LOST)).isEqualTo(1);
    }

    @Test
    void aKeyThatIsBeingPutSaysSo() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.grant("k", 100);

        KeyStatus status = why(pool, "k");

        assertThat(status.state()).isEqualTo(State.BEING_PUT);
        assertThat(status.cause()).isEqualTo(Cause.NONE);
    }

    @Test
    void anotherLeaderBeginsToRememberWithItsTermAndNamesWhomItHasNotHeard() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        pool.put("k", 100);
        pool.remove("k", true);
        pool.crash("b");

        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS + 1_000);

        KeyStatus status = why(pool, "k");
        assertThat(status.cause()).isEqualTo(Cause.UNKNOWN);
        assertThat(status.remembersForMs()).isEqualTo(Bounds.COLD_WAIT_MS + 1_000);
        assertThat(status.unheard()).containsExactly("b");
    }

    @Test
    void whatOnlyANodeShowsThatIsBehindWaitsForAWitness() {
        Scenario pool =
                new Scenario().withNodes(MIB, "a", "b", "c").withReplicas(3).leading(7);
        pool.put("k", 100);
        pool.crash("c");
        pool.crash("b");
        pool.remove("k", true);
        pool.talkedTo().crash();
        pool.crash("a");

        ModelMaster next = pool.lonelyMaster();
        pool.restart("c");
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS + 1_000);

        KeyStatus status = why(pool, "k");
        assertThat(status.state()).isEqualTo(State.UNAVAILABLE);
        assertThat(status.cause()).isEqualTo(Cause.BEHIND);
        assertThat(status.holders()).containsExactly(new Holder("c", true, true, true, false));
    }

    @Test
    void aMasterThatDoesNotServeKnowsNothing() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        pool.standBy();

        assertThat(pool.talkedTo().core().explain(Key.of("k"), pool.world.nowMs()))
                .isEmpty();
    }
}
