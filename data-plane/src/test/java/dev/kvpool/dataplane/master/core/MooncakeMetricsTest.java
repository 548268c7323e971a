// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.Consistency;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.tenant.Quota;
import dev.kvpool.dataplane.master.core.tenant.Quotas;
import dev.kvpool.dataplane.metrics.MasterMetrics;
import dev.kvpool.dataplane.metrics.MooncakeMetrics;
import dev.kvpool.dataplane.metrics.MooncakeMetrics.Standing;
import dev.kvpool.dataplane.metrics.NoConnections;
import dev.kvpool.dataplane.metrics.NoEvents;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.dataplane.wire.message.ClientRequest.CopyRequest;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Mooncake's names have the values of what they read, after puts, misses, evictions and refusals. */
class MooncakeMetricsTest {
    /** Key of at most 64 bytes and 1000 bytes of payload: 64 + 1024. */
    private static final long EXTENT = 1088;

    private static final Pattern SERIES = Pattern.compile("`([a-z_]+(?:\\{[^`]*})?)`");

    private static Map<String, Double> scrape(Scenario pool) {
        MasterCore core = pool.talkedTo().core();
        Map<String, Double> values = new HashMap<>();
        new MasterMetrics(
                        core::status,
                        new NoConnections(),
                        new NoEvents(),
                        PoolSecurity.off(),
                        () -> 0,
                        pool.world::nowMs)
                .scrape()
                .lines()
                .filter(line -> !line.startsWith("#"))
                .forEach(line -> {
                    int space = line.lastIndexOf(' ');
                    Double other = values.put(line.substring(0, space), Double.valueOf(line.substring(space + 1)));
                    assertThat(other).as("%s comes once", line).isNull();
                });
        return values;
    }

    /** One that has put 10 objects, of which 5 were evicted, has met each refusal that is counted, and has read. */
    private static Scenario used() {
        Scenario pool = new Scenario().withNodes(10 * EXTENT, "a").leading(7);
        pool.fill("k", 9);
        pool.world.run(20);
        assertThat(pool.put("one more", 1000)).isEqualTo(Status.OK);
        pool.world.run(20);
        assertThat(pool.put("one more", 1000)).as("it exists").isEqualTo(Status.EXISTS);
        pool.find("k8");
        pool.find("k8");
        pool.find("k0");
        pool.find("never");
        pool.find("");
        pool.exists("k8");
        pool.exists("k0");
        pool.exists("k1");
        pool.exists("");
        assertThat(pool.put("too large for now", 9_000)).isEqualTo(Status.NO_SPACE);
        ObjectId failing = pool.grant("failing", 1000).grants().getFirst().objectId();
        pool.publish(failing, "failing", List.of());
        pool.grant("late", 1000, 100);
        pool.pass(60_000);
        return pool;
    }

    @Test
    void countsAreThoseOfTheSeriesThatTheTableNames() {
        Map<String, Double> values = scrape(used());

        List<String> compared = new ArrayList<>();
        for (MooncakeMetrics.Row row : MooncakeMetrics.ROWS) {
            boolean isOneOfOurs = row.series().size() == 1 && row.reads().contains("kvpool_master_");
            if (row.type().equals("counter") && row.name().startsWith("master_") && isOneOfOurs) {
                double sum = 0;
                Matcher sources = SERIES.matcher(row.reads());
                while (sources.find()) {
                    sum += sum(values, sources.group(1));
                }
                assertThat(values.get(row.name())).as(row.name()).isEqualTo(sum);
                compared.add(row.name());
            }
        }
        assertThat(compared).hasSize(22);
    }

    /** Of the series, and where it is named without a reason of all its reasons. */
    private static double sum(Map<String, Double> values, String series) {
        List<Double> found = values.entrySet().stream()
                .filter(each -> each.getKey().equals(series) || each.getKey().startsWith(series + "{"))
                .map(Map.Entry::getValue)
                .toList();
        assertThat(found).as(series).isNotEmpty();
        return found.stream().mapToDouble(Double::doubleValue).sum();
    }

    @Test
    void countsAreWhatHasHappened() {
        Map<String, Double> values = scrape(used());

        assertThat(values)
                .containsEntry("master_put_start_requests_total", 14.0)
                .containsEntry("master_put_start_failures_total", 2.0)
                .containsEntry("master_put_start_alloc_failures_total", 1.0)
                .containsEntry("master_put_end_requests_total", 10.0)
                .containsEntry("master_put_revoke_requests_total", 1.0)
                .containsEntry("master_put_start_discard_cnt", 1.0)
                .containsEntry("master_get_replica_list_requests_total", 5.0)
                .containsEntry("master_get_replica_list_failures_total", 3.0)
                .containsEntry("master_exist_key_requests_total", 4.0)
                .containsEntry("master_exist_key_failures_total", 1.0);
        assertThat(values.get("master_evicted_key_count")).isGreaterThanOrEqualTo(5);
        assertThat(values.get("master_evicted_size_bytes")).isEqualTo(EXTENT * values.get("master_evicted_key_count"));
        assertThat(values.get("master_key_count")).isEqualTo(10 - values.get("master_evicted_key_count"));
    }

    @Test
    void segmentsAreTheNodesThatAreThere() {
        Scenario pool = new Scenario().withNodes(1 << 20, "a", "b", "c").leading(7);
        pool.fill("k", 20);
        pool.crash("c");

        Map<String, Double> values = scrape(pool);

        assertThat(values)
                .containsEntry(
                        "segment_total_capacity_bytes{segment=\"a\"}", values.get("master_total_capacity_bytes") / 2)
                .doesNotContainKey("segment_allocated_bytes{segment=\"c\"}");
        assertThat(values.get("segment_allocated_bytes{segment=\"a\"}")
                        + values.get("segment_allocated_bytes{segment=\"b\"}"))
                .isEqualTo(values.get("master_allocated_bytes"))
                .isPositive();
    }

    @Test
    void tenantsHaveTheirQuotas() {
        Quotas quotas = new Quotas(
                Map.of("chat", new Quota(0, 2 * EXTENT, Quota.UNLIMITED), "free", new Quota(10, Quota.UNLIMITED, 3)));
        Scenario pool = new Scenario().withNodes(1 << 20, "a").leading(7);
        pool.talkedTo()
                .goBy(new CacheRules(
                        Scenario.OBJECT_LEASE_MS,
                        EvictionRules.between(0.50, 0.90),
                        1,
                        Scenario.REPAIR_DELAY_MS,
                        Scenario.REPAIR_BYTES_PER_SECOND,
                        Consistency.STRICT,
                        quotas));
        pool.as(Tenant.of("chat"));
        pool.put("a", 1000);
        pool.grant("b", 1000);
        pool.find("a");
        assertThat(pool.put("c", 1000)).isEqualTo(Status.QUOTA_EXCEEDED);

        Map<String, Double> values = scrape(pool);

        String chat = "{tenant_id=\"chat\"}";
        String free = "{tenant_id=\"free\"}";
        assertThat(values)
                .containsEntry("mooncake_tenant_quota_requested_bytes" + chat, 2.0 * EXTENT)
                .containsEntry("mooncake_tenant_quota_effective_bytes" + chat, 2.0 * EXTENT)
                .containsEntry("mooncake_tenant_quota_used_bytes" + chat, (double) EXTENT)
                .containsEntry("mooncake_tenant_quota_reserved_bytes" + chat, (double) EXTENT)
                .containsEntry("mooncake_tenant_quota_committed_count" + chat, 1.0)
                .containsEntry("mooncake_tenant_quota_over_quota" + chat, 0.0)
                .containsEntry("mooncake_tenant_quota_explicit_policy" + chat, 1.0)
                .containsEntry("mooncake_tenant_quota_reject_total" + chat, 1.0)
                .containsEntry("mooncake_tenant_evict_bytes_total" + chat, 0.0)
                .containsEntry("mooncake_tenant_quota_requested_bytes_sum", 2.0 * EXTENT)
                .containsEntry("mooncake_tenant_quota_effective_bytes_sum", 2.0 * EXTENT)
                .containsEntry(
                        "mooncake_tenant_quota_allocatable_capacity_bytes", values.get("master_total_capacity_bytes"))
                .containsEntry("mooncake_tenant_quota_used_bytes" + free, 0.0)
                .doesNotContainKey("mooncake_tenant_quota_requested_bytes" + free);
    }

    private static Map<String, Double> batch(Map<String, Double> values, String kind) {
        Map<String, Double> counts = new HashMap<>();
        for (String count : List.of("requests", "failures", "partial_successes", "items", "failed_items")) {
            counts.put(count, values.get("master_batch_%s_%s_total".formatted(kind, count)));
        }
        return counts;
    }

    private static Map<String, Double> counts(
            double requests, double failures, double partialSuccesses, double items, double failedItems) {
        return Map.of(
                "requests",
                requests,
                "failures",
                failures,
                "partial_successes",
                partialSuccesses,
                "items",
                items,
                "failed_items",
                failedItems);
    }

    @Test
    void requestsCountAsTheyAreAnswered() {
        Scenario pool = new Scenario().withNodes(1 << 20, "a").leading(7);
        pool.put("a", 1000);
        pool.put("b", 70_000);
        pool.put("a", 1000);
        pool.publish(new ObjectId(7, 999), "none", List.of(1L));
        pool.publish(pool.grant("given up", 10).grants().getFirst().objectId(), "given up", List.of());
        pool.lookup("a", "b", "none");
        pool.lookup("none");
        pool.exists("a");
        pool.exists("none");
        pool.remove("none", false);
        pool.remove("b", true);
        pool.removeMatching("x.*", false);
        pool.removeAll(true);
        pool.send(new CopyRequest(pool.nextRequest(), Key.of("none"), "", List.of("a")));
        pool.send(new CopyRequest(pool.nextRequest(), Key.of("none"), "b", List.of("a")));
        pool.standBy();
        pool.lookup("a", "b");

        Map<String, Double> values = scrape(pool);

        assertThat(batch(values, "put_start")).isEqualTo(counts(4, 1, 0, 4, 1));
        assertThat(batch(values, "put_end")).isEqualTo(counts(3, 1, 0, 3, 1));
        assertThat(batch(values, "put_revoke")).isEqualTo(counts(1, 0, 0, 1, 0));
        assertThat(batch(values, "get_replica_list")).isEqualTo(counts(3, 2, 1, 6, 4));
        assertThat(batch(values, "exist_key")).as("absence is an answer").isEqualTo(counts(2, 0, 0, 2, 0));
        assertThat(values)
                .containsEntry("master_put_end_failures_total", 1.0)
                .containsEntry("master_put_revoke_failures_total", 0.0)
                .containsEntry("master_remove_requests_total", 2.0)
                .containsEntry("master_remove_failures_total", 1.0)
                .containsEntry("master_remove_by_regex_requests_total", 1.0)
                .containsEntry("master_remove_all_requests_total", 1.0)
                .containsEntry("master_remove_all_failures_total", 0.0)
                .containsEntry("master_create_copy_task_requests_total", 1.0)
                .containsEntry("master_create_copy_task_failures_total", 1.0)
                .containsEntry("master_create_move_task_failures_total", 1.0)
                .containsEntry("master_value_size_bytes_bucket{le=\"4096\"}", 1.0)
                .containsEntry("master_value_size_bytes_bucket{le=\"65536\"}", 1.0)
                .containsEntry("master_value_size_bytes_bucket{le=\"262144\"}", 2.0)
                .containsEntry("master_value_size_bytes_bucket{le=\"+Inf\"}", 2.0)
                .containsEntry("master_value_size_bytes_sum", 71_000.0)
                .containsEntry("master_value_size_bytes_count", 2.0);
    }

    @Test
    void whatNodesAndTheMasterDoIsCounted() {
        Scenario pool = new Scenario()
                .withNodes(1 << 20, "a", "b")
                .withReplicasOfPuts(3)
                .leading(7);
        pool.keeping(Retention.of(true, false, 0, 0));
        pool.put("pinned", 1000);
        pool.put("gone", 1000);
        pool.remove("gone", true);
        pool.crash("b");
        pool.restart("b");
        pool.world.run(1_000);
        pool.beat();

        Map<String, Double> serving = scrape(pool);
        pool.standBy();
        Map<String, Double> after = scrape(pool);

        assertThat(serving)
                .containsEntry("master_put_start_partial_allocations_total", 2.0)
                .containsEntry("master_soft_pin_key_count", 1.0)
                .containsEntry("master_mount_segment_requests_total", 2.0)
                .containsEntry("master_mount_segment_failures_total", 0.0)
                .containsEntry("master_remount_segment_requests_total", 1.0)
                .containsEntry("ha_oplog_standby_lag", 0.0)
                .containsEntry("ha_standby_state", 7.0)
                .containsEntry("ha_oplog_applied_entries_total", 0.0)
                .containsEntry("ha_oplog_apply_latency_us_count", 0.0)
                .containsEntry("master_snapshot_success", 0.0);
        assertThat(serving.get("master_ping_requests_total")).isEqualTo(1);
        assertThat(after).containsEntry("ha_standby_state", 3.0);
        assertThat(after.get("ha_state_transitions_total") - serving.get("ha_state_transitions_total"))
                .isEqualTo(1);
    }

    @Test
    void everyNameIsServedHereOrSaidToBeElsewhere() {
        Map<String, Double> values = scrape(used());

        for (MooncakeMetrics.Row row : MooncakeMetrics.ROWS) {
            assertThat(row.reads()).as(row.name()).isNotEmpty();
            assertThat(row.standing() == Standing.SAME || !row.note().isEmpty())
                    .as(row.name())
                    .isTrue();
            for (MooncakeMetrics.Series series : row.series()) {
                boolean ofLabels = series.name().startsWith("mooncake_tenant_")
                        || series.type().equals("histogram");
                assertThat(ofLabels
                                || values.keySet().stream()
                                        .anyMatch(name ->
                                                name.equals(series.name()) || name.startsWith(series.name() + "{")))
                        .as(series.name())
                        .isTrue();
            }
        }
    }
}
