// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.Put;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.PutOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class EvictionTest {
    /** Key of at most 64 bytes and 1000 bytes of payload: 64 + 1024. */
    private static final long EXTENT = 1088;

    private static final long TEN_OBJECTS = 10 * EXTENT;

    @Test
    void aNodeAboveTheHighWatermarkIsBroughtToTheLowOne() {
        Scenario pool = new Scenario().withNodes(TEN_OBJECTS, "a").leading(7);
        fill(pool, 9);
        pool.world.run(20);
        assertThat(pool.node("a").directory()).hasSize(9);

        pool.put("one more", 1000);
        pool.world.run(20);

        assertThat(pool.node("a").directory()).hasSize(5);
        assertThat(pool.exists("k0")).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.exists("k8")).isEqualTo(Status.OK);
        assertThat(pool.talkedTo().status().counters().get(Count.EVICTED)).isEqualTo(5);
        assertThat(pool.talkedTo().status().counters().get(Count.EVICTED_BYTES)).isEqualTo(5 * EXTENT);
    }

    @Test
    void theLeastRecentlyLeasedGoFirst() {
        Scenario pool = new Scenario().withNodes(TEN_OBJECTS, "a").leading(7);
        fill(pool, 9);
        pool.find("k0");
        pool.world.run(Scenario.OBJECT_LEASE_MS);

        pool.put("one more", 1000);
        pool.world.run(20);

        assertThat(pool.exists("k0")).isEqualTo(Status.OK);
        assertThat(pool.exists("k1")).isEqualTo(Status.NOT_FOUND);
    }

    /** Some keys come again and again among many that come once: a plain LRU of 25 to 45 objects finds less than half of them. */
    @Test
    void whatIsUsedAgainAndAgainOutlivesWhatIsUsedOnce() {
        Scenario pool = new Scenario().withNodes(5 * TEN_OBJECTS, "a").leading(7);
        Random random = new Random(1);
        int asked = 0;
        int found = 0;
        for (int i = 0; i < 2_000; i++) {
            if (i % 4 > 0) {
                pool.put("once-" + i, 1000);
            } else {
                String key = "again-" + random.nextInt(15);
                boolean there = pool.find(key).status() == Status.OK;
                if (!there) {
                    pool.put(key, 1000);
                }
                asked += i < 1_000 ? 0 : 1;
                found += i >= 1_000 && there ? 1 : 0;
            }
            pool.world.run(400);
        }
        assertThat((double) found / asked).isGreaterThan(0.8);
    }

    @Test
    void whatStandsFirstInAPromptOutlivesWhatStandsBehindIt() {
        Scenario pool = new Scenario().withNodes(TEN_OBJECTS, "a").leading(7);
        fill(pool, 9);
        pool.lookup("k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8");
        pool.world.run(Scenario.OBJECT_LEASE_MS);

        pool.put("one more", 1000);
        pool.world.run(20);

        assertThat(evicted(pool)).containsExactly("k8", "k7", "k6", "k5", "k4");
    }

    @Test
    void ofObjectsThatArePutTogetherTheLastGoesFirst() {
        Scenario pool = new Scenario().withNodes(TEN_OBJECTS, "a").leading(7);
        List<Put> puts = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            GrantReply grant = pool.grant("k" + i, 1000);
            List<Long> committed = pool.write(grant, "k" + i, 1000);
            puts.add(new Put(grant.grants().getFirst().objectId(), PutOutcome.WRITTEN, committed, Key.of("k" + i)));
        }
        pool.world.run(20);
        pool.send(new PublishRequest(1_000_000, puts));
        pool.world.run(20);

        pool.put("one more", 1000);
        pool.world.run(20);

        assertThat(evicted(pool)).containsExactly("k8", "k7", "k6", "k5", "k4");
    }

    private static List<String> evicted(Scenario pool) {
        return pool.talkedTo().evictions().stream()
                .map(it -> it.key().toString())
                .toList();
    }

    @Test
    void aLeasedObjectIsNeverEvicted() {
        Scenario pool = new Scenario().withNodes(TEN_OBJECTS, "a").leading(7);
        fill(pool, 9);
        for (int i = 0; i < 9; i++) {
            pool.exists("k" + i);
        }
        pool.node("a").onFree(record -> assertThat(record.key().toString()).isEqualTo("one more"));

        pool.put("one more", 1000);
        pool.world.run(Scenario.OBJECT_LEASE_MS - 100);
        assertThat(pool.node("a").directory()).hasSize(9);

        pool.node("a").onFree(record -> {});
        pool.world.run(100);
        pool.put("one more", 1000);
        pool.world.run(20);
        assertThat(pool.node("a").directory()).hasSize(5);
    }

    @Test
    void aWriterThatFoundNoRoomGetsSomeOnItsNextTry() {
        Scenario pool = new Scenario().withNodes(TEN_OBJECTS, "a").leading(7);
        fill(pool, 8);

        assertThat(pool.put("large", 3000)).isEqualTo(Status.NO_SPACE);
        pool.world.run(20);

        assertThat(pool.put("large", 3000)).isEqualTo(Status.OK);
    }

    @Test
    void aNodeTooFragmentedForAWriterLosesMoreThanTheWatermarkAsks() {
        Scenario pool = new Scenario().withNodes(TEN_OBJECTS, "a").leading(7);
        fill(pool, 4);
        GrantReply grant = pool.grant("large", 3000);

        pool.publish(grant.grants().getFirst().objectId(), "large", List.of(), PutOutcome.NO_SPACE);
        pool.world.run(20);

        assertThat(pool.node("a").directory()).hasSize(1);
    }

    @Test
    void anObjectGoesWithAllItsReplicas() {
        Scenario pool =
                new Scenario().withNodes(TEN_OBJECTS, "a", "b").withReplicas(2).leading(7);
        fill(pool, 10);
        pool.world.run(20);

        assertThat(pool.node("a").directory()).hasSize(5);
        assertThat(pool.node("b").directory()).hasSize(5);
    }

    @Test
    void whatIsEvictedIsToldBeforeItIsFreed() {
        Scenario pool =
                new Scenario().withNodes(TEN_OBJECTS, "a", "b").withReplicas(2).leading(7);
        List<String> told = new ArrayList<>();
        for (String node : List.of("a", "b")) {
            pool.node(node).onFree(record -> {
                assertThat(pool.talkedTo().evictions())
                        .extracting(Action.Evicted::id)
                        .contains(record.objectId());
                told.add(node + " " + record.key());
            });
        }
        fill(pool, 9);
        pool.world.run(20);
        assertThat(pool.talkedTo().evictions()).isEmpty();

        pool.put("one more", 1000);
        pool.world.run(20);

        assertThat(pool.talkedTo().evictions())
                .extracting(it -> it.key().toString())
                .containsExactly("k0", "k1", "k2", "k3", "k4");
        assertThat(pool.talkedTo().evictions()).allSatisfy(it -> {
            assertThat(it.bytes()).isEqualTo(1000);
            assertThat(it.nodes()).containsExactlyInAnyOrder("a", "b");
            assertThat(it.idleMs()).isNotNegative();
        });
        assertThat(told).hasSize(10);
    }

    @Test
    void withoutALogEvictionsAreOnlyCounted() {
        Scenario pool =
                new Scenario().withNodes(TEN_OBJECTS, "a").withoutEvictionLog().leading(7);

        fill(pool, 10);
        pool.world.run(20);

        assertThat(pool.talkedTo().evictions()).isEmpty();
        assertThat(pool.talkedTo().status().counters().get(Count.EVICTED)).isPositive();
    }

    @Test
    void whatIsRemovedOrReplacedIsNotEvicted() {
        Scenario pool = new Scenario().withNodes(TEN_OBJECTS, "a").leading(7);
        pool.put("removed", 1000);
        pool.remove("removed", false);
        pool.put("stays", 1000);
        pool.world.run(20);

        assertThat(pool.talkedTo().evictions()).isEmpty();
        assertThat(pool.node("a").directory()).hasSize(1);
    }

    private static void fill(Scenario pool, int objects) {
        for (int i = 0; i < objects; i++) {
            pool.put("k" + i, 1000);
        }
    }
}
