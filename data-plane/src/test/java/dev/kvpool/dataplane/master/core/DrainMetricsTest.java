// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.master.core.plan.CopyPlan;
import dev.kvpool.dataplane.metrics.MasterMetrics;
import dev.kvpool.dataplane.metrics.NoConnections;
import dev.kvpool.dataplane.metrics.NoEvents;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.nativelib.Status;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Metrics tell what drains have moved and what they have left, above all of those that ended with something left. */
class DrainMetricsTest {
    private static final long MIB = 1 << 20;
    private static final String LEFT = "kvpool_master_drains_objects_left";
    private static final String LEFT_BYTES = "kvpool_master_drains_bytes_left";
    private static final String NO_NODE = CopyPlan.Obstacle.NO_NODE.sentence();

    /** Nodes with so many objects between them, of a thousand bytes each. */
    private static Scenario filled(int objects, String... nodes) {
        Scenario pool = new Scenario().withNodes(4 * MIB, nodes).leading(7);
        for (int i = 0; i < objects; i++) {
            assertThat(pool.put("k" + i, 1_000)).isEqualTo(Status.OK);
        }
        return pool;
    }

    private static void drain(Scenario pool, String node, long timeoutMs) {
        assertThat(pool.talkedTo().core().drain(node, false, timeoutMs, 0, pool.world.nowMs()))
                .isEmpty();
    }

    private static List<String> drainLines(Scenario pool) {
        MasterCore core = pool.talkedTo().core();
        return new MasterMetrics(
                        core::status,
                        new NoConnections(),
                        new NoEvents(),
                        PoolSecurity.off(),
                        () -> 0,
                        pool.world::nowMs)
                .scrape()
                .lines()
                .filter(line -> line.startsWith("kvpool_master_drain"))
                .toList();
    }

    private static String left(String series, String node, String reason, long value) {
        return "%s{node=\"%s\",tier=\"dram\",reason=\"%s\"} %d".formatted(series, node, reason, value);
    }

    @Test
    void whatIsLeftIsToldDuringADrainAndAfterItsTime() {
        Scenario pool = filled(7, "a");
        drain(pool, "a", 5_000);
        pool.world.run(4_000);
        assertThat(drainLines(pool))
                .contains(
                        "kvpool_master_drains_active 1.0",
                        "kvpool_master_drains_timed_out 0.0",
                        left(LEFT, "a", NO_NODE, 7),
                        left(LEFT_BYTES, "a", NO_NODE, 7 * ExtentSize.of(2, 1_000)));

        pool.world.run(2_000);

        assertThat(drainLines(pool))
                .contains(
                        "kvpool_master_drains_active 0.0",
                        "kvpool_master_drains_timed_out 1.0",
                        "kvpool_master_drained_total 0.0",
                        left(LEFT, "a", NO_NODE, 7),
                        left(LEFT_BYTES, "a", NO_NODE, 7 * ExtentSize.of(2, 1_000)));
    }

    @Test
    void whatWasMovedIsCountedAndIsNotLeft() {
        Scenario pool = filled(30, "a", "b", "c");
        int there = pool.node("a").directory().size();
        long bytes = pool.node("a").directory().stream()
                .mapToLong(record -> ExtentSize.of(record.key().length(), 1_000))
                .sum();
        pool.world.run(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);
        drain(pool, "a", 600_000);
        pool.world.run(Scenario.OBJECT_LEASE_MS + 5_000);

        assertThat(there).isPositive();
        assertThat(drainLines(pool))
                .contains(
                        "kvpool_master_drained_total " + (double) there,
                        "kvpool_master_drained_bytes_total " + (double) bytes,
                        "kvpool_master_drains_timed_out 0.0")
                .noneMatch(line -> line.startsWith(LEFT) || line.startsWith(LEFT_BYTES));
    }

    @Test
    void ofACancelledDrainNothingIsLeft() {
        Scenario pool = filled(7, "a");
        drain(pool, "a", 60_000);
        pool.world.run(4_000);

        assertThat(pool.talkedTo().core().cancelDrain("a")).isTrue();

        assertThat(drainLines(pool))
                .contains("kvpool_master_drains_active 0.0", "kvpool_master_drains_timed_out 0.0")
                .noneMatch(line -> line.startsWith(LEFT) || line.startsWith(LEFT_BYTES));
    }
}
