// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.config.CacheSettings;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.PutOutcome;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A pool that evicts by the rules it has by default: how much of its memory has objects, while every put finds room at once. */
class FullMemoryTest {
    private static final EvictionRules RULES = new EvictionRules(
            byDefault(CacheSettings.EVICTION_HIGH_WATERMARK),
            byDefault(CacheSettings.EVICTION_LOW_WATERMARK),
            byDefault(CacheSettings.TAKEOVER_RESERVE),
            1_800_000,
            true);

    private static final long EXTENT = 1088;
    private static final long PAYLOAD = 1000;
    private static final long TICK_MS = 10;

    private int puts;

    private static double byDefault(Setting<Double> setting) {
        return Double.parseDouble(setting.defaultText().orElseThrow());
    }

    private static Scenario pool(int extents) {
        Scenario pool =
                new Scenario().withRules(RULES).withNodes(extents * EXTENT, "a").leading(7);
        pool.world.run(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);
        return pool;
    }

    /** Puts of which none may fail, between two turns of the eviction. */
    private void burst(Scenario pool, int objects, long payload) {
        for (int i = 0; i < objects; i++) {
            assertThat(pool.put("k" + puts, payload)).as("put %d", puts).isEqualTo(Status.OK);
            puts++;
        }
        pool.world.run(TICK_MS);
    }

    private static double used(Scenario pool, int extents) {
        long bytes = pool.node("a").directory().stream()
                .mapToLong(DirectoryRecord::extentBytes)
                .sum();
        return (double) bytes / (extents * EXTENT);
    }

    @Test
    void atLeast97PercentHaveObjectsHoweverLongWritersGoOn() {
        Scenario pool = pool(900);
        for (int i = 0; i < 900; i++) {
            burst(pool, 1, PAYLOAD);
        }
        double sum = 0;
        for (int i = 0; i < 400; i++) {
            burst(pool, 1, PAYLOAD);
            double used = used(pool, 900);
            assertThat(used).isGreaterThanOrEqualTo(0.97);
            sum += used;
        }
        assertThat(sum / 400).isGreaterThan(0.974);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void objectsOfAnySizeToo(long seed) {
        Random random = new Random(seed);
        Scenario pool = pool(900);
        double sum = 0;
        for (int i = 0; i < 2_000; i++) {
            burst(pool, random.nextInt(2), 900 + random.nextInt(1_000));
            sum += i < 1_500 ? 0 : used(pool, 900);
        }
        assertThat(sum / 500).isGreaterThanOrEqualTo(0.97);
    }

    @Test
    void whereWritersAskForAGoodPartOfItAtOnceAsMuchIsKeptFreeForThem() {
        Scenario pool = pool(400);
        for (int i = 0; i < 200; i++) {
            burst(pool, 4, PAYLOAD);
            burst(pool, 4, PAYLOAD);
            pool.world.run(i % 20 == 19 ? 4_000 : 0);
        }
        assertThat(used(pool, 400)).isBetween(0.92, 0.95);
    }

    @Test
    void afterAnHourOfSingleWritesItIsFullAgain() {
        Scenario pool = pool(400);
        for (int i = 0; i < 100; i++) {
            burst(pool, 8, PAYLOAD);
        }
        assertThat(used(pool, 400)).isLessThan(0.91);
        for (int i = 0; i < 120; i++) {
            pool.pass(30_000);
            burst(pool, 1, PAYLOAD);
        }
        assertThat(used(pool, 400)).isGreaterThanOrEqualTo(0.97);
    }

    @Test
    void whereFreeRoomLiesInPiecesTooSmallForWritersMoreIsKeptFree() {
        Scenario pool = pool(1_000);
        for (int i = 0; i < 1_500; i++) {
            burst(pool, 1, PAYLOAD);
        }
        assertThat(used(pool, 1_000)).isGreaterThanOrEqualTo(0.97);
        GrantReply grant = pool.grant("large", PAYLOAD);
        pool.publish(grant.grants().getFirst().objectId(), "large", List.of(), PutOutcome.NO_SPACE);
        pool.world.run(2_000);
        for (int i = 0; i < 30; i++) {
            burst(pool, 1, PAYLOAD);
            assertThat(used(pool, 1_000)).isLessThan(0.97);
        }
    }
}
