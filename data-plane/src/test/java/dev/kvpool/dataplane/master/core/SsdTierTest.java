// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.wire.message.ClientReply.Found;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.nativelib.Status;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What leaves memory goes to the SSD of its node, is found there, and comes back when it is asked for often. */
class SsdTierTest {
    /** Key of at most 64 bytes and 1000 bytes of payload: 64 + 1024, and one block on an SSD. */
    private static final long EXTENT = 1088;

    private static final long TEN_OBJECTS = 10 * EXTENT;
    private static final long BLOCK = 4096;

    @Test
    void whatHasToLeaveMemoryGoesToTheSsdAndIsStillThere() {
        Scenario pool = fullPool(100 * BLOCK);

        assertThat(pool.node("a").directory()).hasSize(5);
        assertThat(pool.node("a").ssd()).hasSize(5);
        for (int i = 0; i < 10; i++) {
            assertThat(pool.exists("k" + i)).isEqualTo(Status.OK);
        }
        assertThat(count(pool, Count.EVICTED)).isZero();
        assertThat(pool.talkedTo().evictions()).isEmpty();
        assertThat(count(pool, Count.DEMOTIONS_DONE)).isEqualTo(5);
        assertThat(segmentsOf(pool.find("k0"))).containsExactly(ExtentRef.SSD);
        assertThat(segmentsOf(pool.find("k9"))).containsExactly(ExtentRef.MEMORY);
        assertThat(count(pool, Count.LOOKUP_HITS_SSD)).isEqualTo(1);
        PoolStatus.Node node = pool.talkedTo().status().nodes().getFirst();
        assertThat(node.usedBytes()).isEqualTo(5 * EXTENT);
        assertThat(node.capacityBytes()).isEqualTo(TEN_OBJECTS);
        assertThat(node.ssd()).isEqualTo(new PoolStatus.Ssd(100 * BLOCK, 5 * BLOCK, 5, 0, ""));
    }

    @Test
    void memoryAndSsdOfOneNodeAreOneCopy() {
        Scenario pool = fullPool(100 * BLOCK);
        pool.find("k0");
        pool.find("k0");
        pool.world.run(2 * Scenario.OBJECT_LEASE_MS);

        assertThat(segmentsOf(pool.find("k0"))).containsExactly(ExtentRef.MEMORY, ExtentRef.SSD);
        assertThat(pool.talkedTo().status().overReplicatedObjects()).isZero();
        assertThat(pool.talkedTo().status().underReplicatedObjects()).isZero();
        assertThat(count(pool, Count.TRIMMED)).isZero();
    }

    @Test
    void whatIsAskedForTwiceComesBackToMemoryAndNeedNotBeWrittenAgain() {
        Scenario pool = fullPool(100 * BLOCK);
        pool.find("k0");
        pool.world.run(100);
        assertThat(segmentsOf(pool.find("k0"))).containsExactly(ExtentRef.SSD);
        assertThat(count(pool, Count.PROMOTIONS_SELDOM)).isEqualTo(1);
        assertThat(count(pool, Count.PROMOTIONS_ADMITTED)).isEqualTo(1);
        assertThat(pool.talkedTo().status().promotionsUnderWay()).isEqualTo(1);
        pool.world.run(100);
        assertThat(count(pool, Count.PROMOTIONS_DONE)).isEqualTo(1);
        assertThat(count(pool, Count.PROMOTED_BYTES)).isEqualTo(BLOCK);
        assertThat(pool.talkedTo().status().promotionsUnderWay()).isZero();
        assertThat(segmentsOf(pool.find("k0"))).containsExactly(ExtentRef.MEMORY, ExtentRef.SSD);

        pool.world.run(2 * Scenario.OBJECT_LEASE_MS);
        long written = count(pool, Count.DEMOTIONS_DONE);
        for (int i = 0; i < 4; i++) {
            assertThat(pool.put("more" + i, 1000)).isEqualTo(Status.OK);
            pool.world.run(20);
        }
        pool.world.run(100);
        assertThat(pool.exists("k0")).isEqualTo(Status.OK);
        assertThat(count(pool, Count.RELEASED)).isGreaterThanOrEqualTo(count(pool, Count.DEMOTIONS_DONE));
        assertThat(count(pool, Count.DEMOTIONS_DONE) - written)
                .isLessThan(pool.node("a").ssd().size());
    }

    @Test
    void theCopyInMemoryIsRemovedAloneAndThatOnTheSsdIsRead() {
        Scenario pool = fullPool(100 * BLOCK);
        pool.find("k0");
        pool.find("k0");
        pool.world.run(2 * Scenario.OBJECT_LEASE_MS);
        assertThat(pool.removeCopy("k9", "a", true)).isEqualTo(Status.OK);
        assertThat(pool.exists("k9")).as("it was in memory alone").isEqualTo(Status.NOT_FOUND);

        assertThat(pool.removeCopy("k0", "a", false)).isEqualTo(Status.OK);
        assertThat(pool.removeCopy("k0", "a", false)).isEqualTo(Status.NOT_FOUND);
        assertThat(segmentsOf(pool.find("k0"))).containsExactly(ExtentRef.SSD);
        assertThat(pool.talkedTo().status().underReplicatedObjects()).isZero();
    }

    @Test
    void aFullSsdLosesWhatWasUsedLeastRecently() {
        Scenario pool = fullPool(20 * BLOCK);
        for (int i = 10; i < 60; i++) {
            assertThat(pool.put("k" + i, 1000)).isEqualTo(Status.OK);
            pool.world.run(50);
        }
        pool.world.run(2000);
        assertThat(pool.node("a").ssd().size()).isBetween(10, 20);
        assertThat(pool.exists("k0")).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.exists("k59")).isEqualTo(Status.OK);
        assertThat(count(pool, Count.SSD_EVICTED_BYTES)).isPositive();
        assertThat(pool.talkedTo().evictions())
                .hasSize((int) count(pool, Count.EVICTED))
                .extracting(it -> it.key().toString())
                .contains("k0")
                .doesNotContain("k59");
    }

    @Test
    void aRemovalReachesBothMedia() {
        Scenario pool = fullPool(100 * BLOCK);
        assertThat(pool.remove("k0", true)).isEqualTo(Status.OK);
        pool.world.run(20);
        assertThat(pool.exists("k0")).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node("a").ssd()).hasSize(4);
    }

    @Test
    void theNextLeaderKnowsWhatLiesOnTheSsd() {
        Scenario pool = fullPool(100 * BLOCK);
        pool.leading(8);
        pool.world.run(100);
        for (int i = 0; i < 10; i++) {
            assertThat(pool.exists("k" + i)).isEqualTo(Status.OK);
        }
    }

    @Test
    void aNodeThatLostItsMemoryComesBackWithItsSsd() {
        Scenario pool = fullPool(100 * BLOCK);
        pool.crash("a");
        pool.node("a").wipe();
        pool.restart("a");
        pool.world.run(100);
        assertThat(pool.exists("k0")).isEqualTo(Status.OK);
        assertThat(pool.exists("k9")).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void aBrokenSsdCostsWhatLayThereAndMemoryGoesOn() {
        Scenario pool = fullPool(100 * BLOCK);
        pool.node("a").breakSsd("the disk is gone");
        pool.world.run(20);
        assertThat(pool.exists("k0")).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.exists("k9")).isEqualTo(Status.OK);
        assertThat(pool.talkedTo().status().nodes().getFirst().ssd().problem()).isEqualTo("the disk is gone");

        pool.world.run(2 * Scenario.OBJECT_LEASE_MS);
        for (int i = 10; i < 20; i++) {
            assertThat(pool.put("k" + i, 1000)).isEqualTo(Status.OK);
            pool.world.run(20);
        }
        assertThat(count(pool, Count.EVICTED)).isPositive();
        assertThat(pool.node("a").ssd()).isEmpty();
    }

    @Test
    void aCopyThatItsNodeWasToldToFreeIsPromisedToNobodyWhenTheSsdFailsMeanwhile() {
        Scenario pool = fullPool(100 * BLOCK);
        pool.find("k0");
        pool.find("k0");
        pool.world.run(2 * Scenario.OBJECT_LEASE_MS);
        assertThat(segmentsOf(pool.find("k0"))).containsExactly(ExtentRef.MEMORY, ExtentRef.SSD);
        for (int again = 0; again < 2; again++) { // so that k0 is the first to leave memory
            for (int i = 5; i < 10; i++) {
                pool.find("k" + i);
            }
            pool.world.run(2 * Scenario.OBJECT_LEASE_MS);
        }

        pool.node("a").mute(true);
        for (int i = 10; i < 14; i++) {
            pool.put("k" + i, 1000);
            pool.world.run(20);
        }
        assertThat(segmentsOf(pool.find("k0"))).containsExactly(ExtentRef.SSD);
        pool.node("a").breakSsd("the disk is gone");
        pool.world.run(20);

        assertThat(pool.find("k0").status()).isEqualTo(Status.UNAVAILABLE);
        pool.node("a").mute(false);
        pool.world.run(20);
        assertThat(pool.find("k0").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void whatIsTooLargeForAnSsdIsEvictedAndNobodyAsksForMore() {
        for (long over : new long[] {0, 1}) {
            long value = Bounds.SSD_VALUE_BYTES_MAX + over;
            Scenario pool = new Scenario()
                    .withNodes(10 * (value + 128), "a")
                    .withSsd(100 * value)
                    .leading(7);
            for (int i = 0; i < 12; i++) {
                assertThat(pool.put("k" + i, value)).isEqualTo(Status.OK);
                pool.world.run(100);
            }
            assertThat(pool.node("a").ssd().isEmpty()).isEqualTo(over > 0);
            assertThat(count(pool, Count.EVICTED) > 0).isEqualTo(over > 0);
            assertThat(count(pool, Count.DEMOTIONS_FAILED)).isZero();
        }
    }

    private static long count(Scenario pool, Count what) {
        return pool.talkedTo().status().counters().get(what);
    }

    private static List<Integer> segmentsOf(Found found) {
        return found.replicas().stream()
                .map(replica -> replica.extent().segment())
                .toList();
    }

    /** One node, ten objects put one after the other: half of them had to leave memory. */
    private static Scenario fullPool(long ssdBytes) {
        Scenario pool =
                new Scenario().withNodes(TEN_OBJECTS, "a").withSsd(ssdBytes).leading(7);
        for (int i = 0; i < 10; i++) {
            assertThat(pool.put("k" + i, 1000)).isEqualTo(Status.OK);
        }
        pool.world.run(100);
        return pool;
    }
}
