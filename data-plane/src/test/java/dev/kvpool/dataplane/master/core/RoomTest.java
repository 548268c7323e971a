// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.count.BucketCounts;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import org.junit.jupiter.api.Test;

/** Room for writers: the reserve for after a takeover, nodes that can give none, upserts, and what is told of misses. */
class RoomTest {
    private static final long EXTENT = 1088;
    private static final EvictionRules RESERVING = new EvictionRules(0.80, 0.50, 0.10, 1_800_000, true);

    @Test
    void putsLeaveTheReserveFree() {
        Scenario pool = new Scenario()
                .withRules(RESERVING)
                .withNodes(20 * EXTENT, "a")
                .leading(7)
                .keeping(Retention.of(false, true, 0, 0));
        endOfRecovery(pool);

        assertThat(fillUntilRefused(pool, "k")).isEqualTo(18);
    }

    @Test
    void anObjectThatFitsOnlyIntoTheReserveIsTooLarge() {
        Scenario pool =
                new Scenario().withRules(RESERVING).withNodes(20 * EXTENT, "a").leading(7);

        assertThat(pool.put("large", 19 * EXTENT)).isEqualTo(Status.TOO_LARGE);
        assertThat(pool.put("fits", 17 * EXTENT)).isEqualTo(Status.OK);
    }

    @Test
    void aNodeFullOfPinsDoesNotKeepAWriterFromTheOther() {
        Scenario pool = new Scenario().withNodes(10 * EXTENT, "a", "b").leading(7);
        pool.keeping(Retention.of(false, true, 0, 0));
        fillNode(pool, "a");
        pool.keeping(Retention.NONE);
        for (int i = 0; i < 8; i++) {
            pool.put("plain" + i, 1000);
        }
        pool.world.run(200);

        Status status = Status.NO_SPACE;
        for (int attempt = 0; attempt < 4 && status == Status.NO_SPACE; attempt++) {
            status = pool.put("large", 4 * EXTENT);
            pool.world.run(100);
        }
        assertThat(status).isEqualTo(Status.OK);
    }

    @Test
    void anUpsertReplacesWhatIsThereAndItsBytesAreFreeAtOnce() {
        Scenario pool =
                new Scenario().withNodes(10 * EXTENT, "a", "b").withReplicas(2).leading(7);
        assertThat(pool.upsert("k", 1000)).isEqualTo(Status.OK);
        pool.find("k");

        assertThat(pool.put("k", 500)).isEqualTo(Status.EXISTS);
        assertThat(pool.upsert("k", 700)).isEqualTo(Status.OK);
        pool.world.run(20);

        assertThat(pool.find("k").payloadLength()).isEqualTo(700);
        assertThat(pool.node("a").directory())
                .as("a lease on the old object keeps nothing")
                .hasSize(1);
        assertThat(pool.node("b").directory()).hasSize(1);
        assertThat(pool.talkedTo().status().counters().get(Count.REPLACED)).isEqualTo(1);
    }

    @Test
    void anUpsertThatFailsLeavesWhatWasThere() {
        Scenario pool = new Scenario().withNodes(10 * EXTENT, "a").leading(7);
        pool.put("k", 1000);

        assertThat(pool.upsert("k", 10_000)).isEqualTo(Status.NO_SPACE);
        assertThat(pool.find("k").payloadLength()).isEqualTo(1000);
    }

    @Test
    void missesSayWhatBecameOfTheKey() {
        Scenario pool = new Scenario().withNodes(10 * EXTENT, "a").leading(7);
        for (int i = 0; i < 10; i++) {
            pool.put("k" + i, 1000);
        }
        pool.world.run(20);
        pool.remove("k9", true);

        pool.find("k0");
        pool.find("k9");
        pool.find("nobody knows");
        pool.find("k8");
        Counters counters = pool.talkedTo().status().counters();

        assertThat(counters.get(Count.LOOKUP_EVICTED)).isEqualTo(1);
        assertThat(counters.get(Count.LOOKUP_REMOVED)).isEqualTo(1);
        assertThat(counters.get(Count.LOOKUP_NEVER_PUT)).isEqualTo(1);
        assertThat(counters.get(Count.LOOKUP_HITS)).isEqualTo(1);
    }

    @Test
    void whoOnlyAsksWhetherAKeyExistsIsCountedByTheSameReasons() {
        Scenario pool = new Scenario().withNodes(10 * EXTENT, "a").leading(7);
        for (int i = 0; i < 10; i++) {
            pool.put("k" + i, 1000);
        }
        pool.world.run(20);
        pool.remove("k9", true);

        assertThat(pool.exists("k0")).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.exists("k9")).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.exists("nobody knows")).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.exists("")).isEqualTo(Status.INVALID_KEY);
        assertThat(pool.exists("k8")).isEqualTo(Status.OK);
        pool.crash("a");
        assertThat(pool.exists("k8")).isEqualTo(Status.NOT_FOUND);
        Counters counters = pool.talkedTo().status().counters();

        assertThat(counters.get(Count.EXISTS_EVICTED)).isEqualTo(1);
        assertThat(counters.get(Count.EXISTS_REMOVED)).isEqualTo(1);
        assertThat(counters.get(Count.EXISTS_NEVER_PUT)).isEqualTo(1);
        assertThat(counters.get(Count.EXISTS_INVALID)).isEqualTo(1);
        assertThat(counters.get(Count.EXISTS_UNAVAILABLE)).isEqualTo(1);
        assertThat(counters.get(Count.EXISTS_VERSION)).isZero();
        assertThat(counters.get(Count.EXISTS_HITS)).isEqualTo(1);
    }

    @Test
    void theAgeOfWhatIsEvictedIsTheTimeSinceItsLastUse() {
        Scenario pool = new Scenario().withNodes(10 * EXTENT, "a").leading(7);
        for (int i = 0; i < 9; i++) {
            pool.put("k" + i, 1000);
        }
        pool.world.run(20_000);
        pool.put("one more", 1000);
        pool.world.run(20);

        BucketCounts ages = pool.talkedTo().status().counters().ages();
        assertThat(ages.bounds().get(3)).isEqualTo(30_000);
        assertThat(ages.counts()).containsExactly(0L, 0L, 0L, 5L, 0L, 0L, 0L, 0L, 0L, 0L, 0L);
        assertThat(ages.sum()).isBetween(100_000L, 101_000L);
    }

    private static int fillUntilRefused(Scenario pool, String prefix) {
        int put = 0;
        while (put < 100 && pool.put(prefix + put, 1000) == Status.OK) {
            put++;
        }
        return put;
    }

    /** Fills one node by asking for the room of two and writing to neither's neighbour. */
    private static void fillNode(Scenario pool, String id) {
        for (int i = 0; pool.node(id).directory().size() < 9 && i < 200; i++) {
            String key = "pinned" + i;
            pool.put(key, 1000);
            boolean onOther = pool.node(id).directory().stream()
                    .noneMatch(line -> line.key().toString().equals(key));
            if (onOther) {
                pool.remove(key, true);
            }
        }
    }

    private static void endOfRecovery(Scenario pool) {
        pool.world.run(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS + 20);
    }
}
