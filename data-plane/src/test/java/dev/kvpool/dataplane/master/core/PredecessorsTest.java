// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.Counters.Count;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.nativelib.Status;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What was replaced while its node was away is not read again when what replaced it has been evicted. */
class PredecessorsTest {
    private static final long MIB = 1 << 20;
    private static final long OLD = 100;
    private static final long NEW = 200;

    /** "k" on node "c", which goes away; then "k" anew on the others. */
    private static Scenario replaced(int nodes) {
        List<String> ids = List.of("a", "b", "c").subList(3 - nodes, 3);
        Scenario pool =
                new Scenario().withNodes(MIB, ids.toArray(String[]::new)).leading(7);
        ids.stream().filter(id -> !id.equals("c")).forEach(pool::crash);
        assertThat(pool.put("k", OLD)).isEqualTo(Status.OK);
        pool.crash("c");
        ids.stream().filter(id -> !id.equals("c")).forEach(pool::restart);
        assertThat(pool.upsert("k", NEW)).isEqualTo(Status.OK);
        return pool;
    }

    /** Puts until "k" has been evicted. */
    private static void evict(Scenario pool) {
        for (int i = 0; isThere(pool); i++) {
            assertThat(i).as("puts until it is evicted").isLessThan(200);
            pool.put("other-" + i, 50_000);
            pool.world.run(20);
        }
        pool.world.run(1_000);
    }

    private static boolean isThere(Scenario pool) {
        return !pool.talkedTo().core().holders(Key.of("k")).isEmpty();
    }

    private static long tombstones(Scenario pool) {
        return pool.talkedTo().status().tombstones();
    }

    private static long unmarked(Scenario pool) {
        return pool.talkedTo().status().counters().get(Count.EVICTED_UNMARKED);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theNextLeaderDoesNotShowIt(boolean warm) {
        Scenario pool = replaced(3);
        ModelMaster standby = warm ? pool.master() : null;
        evict(pool);
        assertThat(tombstones(pool)).isEqualTo(1);

        pool.talkedTo().crash();
        ModelMaster next = warm ? standby : pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS);
        pool.talkTo(next);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        pool.restart("c");
        pool.world.run(100);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        pool.world.run(60_000);
        assertThat(pool.node("c").directory()).isEmpty();
        assertThat(tombstones(pool)).isZero();
    }

    @Test
    void itIsGoneWhenItsNodeIsBackUnderTheSameLeader() {
        Scenario pool = replaced(3);
        evict(pool);

        pool.restart("c");
        pool.world.run(1_000);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node("c").directory()).isEmpty();
        assertThat(tombstones(pool)).isZero();
    }

    /** What such a node holds is not known, and a tombstone for each key would be too many. */
    @Test
    void whatANodeHoldsThatTheLeaderHasNeverHeardIsNotMarked() {
        Scenario pool = replaced(3);
        pool.talkedTo().crash();
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS + Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);
        pool.talkTo(next);

        evict(pool);

        assertThat(tombstones(pool)).isZero();
        assertThat(unmarked(pool)).isPositive();
    }

    /** It knew the node as a standby, but what was written there last may not have been told to it. */
    @Test
    void whatANodeHoldsThatIsGoneSinceBeforeTheTakeoverIsNotMarkedEither() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        ModelMaster standby = pool.master();
        pool.world.run(100);
        pool.crash("c");
        pool.talkedTo().crash();
        pool.lead(standby, 8).talkTo(standby);
        pool.world.run(Bounds.COLD_WAIT_MS);
        pool.talkTo(standby);
        assertThat(pool.put("k", NEW)).isEqualTo(Status.OK);

        evict(pool);

        assertThat(tombstones(pool)).isZero();
        assertThat(unmarked(pool)).isPositive();
    }

    @Test
    void whatTheNodeShowsAndCannotFinishShowingIsDecidedAtOnce() {
        Scenario pool = replaced(3);
        pool.talkedTo().crash();
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS);
        pool.talkTo(next);
        pool.node("c").mute(true);
        pool.restart("c");
        assertThat(pool.node("c").directory()).hasSize(1);
        pool.crash("c");
        pool.node("c").mute(false);
        pool.pass(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);
        evict(pool);

        pool.restart("c");
        pool.world.run(1_000);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node("c").directory()).isEmpty();
    }

    @Test
    void whatNothingOlderLiesBehindGoesWithoutATombstone() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        pool.crash("c");
        assertThat(pool.put("k", NEW)).isEqualTo(Status.OK);

        evict(pool);

        assertThat(tombstones(pool)).isZero();
        assertThat(unmarked(pool)).isZero();
    }

    /** A node that is told to free it may be gone before it has. */
    @Test
    void whatIsBeingFreedIsWaitedForAndMarkedWhenItsNodeIsGone() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        pool.crash("a");
        pool.crash("b");
        assertThat(pool.put("k", OLD)).isEqualTo(Status.OK);
        pool.restart("a");
        pool.restart("b");
        pool.node("c").mute(true);
        pool.node("c").heartbeatEvery(500);
        while (pool.talkedTo().core().holders(Key.of("k")).contains("c")) {
            assertThat(pool.upsert("k", NEW)).isEqualTo(Status.OK);
        }
        for (int i = 0; i < 40; i++) {
            pool.put("other-" + i, 50_000);
            pool.world.run(20);
        }
        assertThat(isThere(pool)).isTrue();

        pool.crash("c");
        evict(pool);
        assertThat(pool.node("a").tombstones())
                .anyMatch(tombstone -> tombstone.key().equals(Key.of("k")));
        pool.talkedTo().crash();
        pool.node("c").mute(false);
        pool.restart("c");
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    /** Of two nodes, one is no majority: that it makes room matters more. */
    @Test
    void withoutAMajorityItGoesWithoutATombstone() {
        Scenario pool = replaced(2);

        evict(pool);

        assertThat(tombstones(pool)).isZero();
        assertThat(unmarked(pool)).isEqualTo(1);
    }

    @Test
    void itStaysReadableUntilTheTombstoneIsWritten() {
        Scenario pool = replaced(3);
        String other = pool.talkedTo().core().holders(Key.of("k")).contains("a") ? "b" : "a";
        pool.node(other).mute(true);
        for (int i = 0; i < 40; i++) {
            pool.put("other-" + i, 50_000);
            pool.world.run(20);
        }
        assertThat(isThere(pool)).isTrue();

        pool.node(other).mute(false);
        evict(pool);

        assertThat(isThere(pool)).isFalse();
    }

    @Test
    void tombstonesOfEvictionsTakeOnlyAPartOfANode() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        pool.crash("a");
        pool.crash("b");
        int keys = 300;
        for (int i = 0; i < keys; i++) {
            assertThat(pool.put("k" + i, OLD)).isEqualTo(Status.OK);
        }
        pool.crash("c");
        pool.restart("a");
        pool.restart("b");
        for (int i = 0; i < keys; i++) {
            assertThat(pool.upsert("k" + i, NEW)).isEqualTo(Status.OK);
        }

        for (int i = 0; i < 150; i++) {
            pool.put("other-" + i, 50_000);
            pool.world.run(100);
        }

        assertThat(tombstones(pool)).isBetween(1L, 1024L / Bounds.TOMBSTONES_OF_EVICTIONS);
        assertThat(unmarked(pool)).isPositive();
        assertThat(pool.talkedTo().status().counters().get(Count.EVICTED)).isGreaterThanOrEqualTo(keys);
    }
}
