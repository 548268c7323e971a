// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

import static dev.kvpool.dataplane.master.core.base.Counters.Count.EVICTED;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.EVICTED_BYTES;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.EXISTS_EVICTED;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.EXISTS_HITS;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.EXISTS_INVALID;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.EXISTS_LOST;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.EXISTS_NEVER_PUT;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.EXISTS_REMOVED;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.EXISTS_UNAVAILABLE;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.EXISTS_VERSION;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.FULL_GRANTS;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.GRANTS;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.GRANTS_BUSY;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.GRANTS_EXPIRED;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.GRANTS_INDEX_FULL;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.GRANTS_NO_SPACE;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.LOOKUP_EVICTED;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.LOOKUP_HITS;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.LOOKUP_INVALID;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.LOOKUP_LOST;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.LOOKUP_NEVER_PUT;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.LOOKUP_REMOVED;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.LOOKUP_UNAVAILABLE;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.LOOKUP_VERSION;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.PUTS;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.PUTS_EXISTING;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.PUTS_FAILED;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.PUTS_NO_SPACE;

import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.master.core.report.QuotaStatus;
import dev.kvpool.dataplane.master.core.tenant.Quota;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Mooncake's names of metrics, for dashboards and scripts that ask for them, and what each reads here: nothing is counted twice. A name whose
 * meaning nothing here has is not served, and stands here with what to use instead. docs/reference/mooncake-http.md is made of this table.
 */
public final class MooncakeMetrics {
    private static final String KEYS = "of keys";
    private static final String GAUGE = "gauge";
    private static final String COUNTER = "counter";

    /** How a name stands to Mooncake's. */
    public enum Standing {
        SAME,
        DIFFERS,
        MISSING
    }

    /**
     * One name, or several that are missing for one reason.
     *
     * @param type gauge or counter; empty when it is missing
     * @param help for Prometheus
     * @param reads what it is here
     * @param note how it differs, or why it is missing and what to use instead
     * @param values the labels of each sample, in braces or empty, and its value
     */
    public record Row(
            String name,
            String type,
            String help,
            Standing standing,
            String reads,
            String note,
            Function<PoolStatus, Map<String, Long>> values) {
        private String text(PoolStatus status) {
            StringBuilder text = new StringBuilder("# HELP %s %s\n# TYPE %s %s\n".formatted(name, help, name, type));
            values.apply(status).forEach((labels, value) -> text.append("%s%s %d\n".formatted(name, labels, value)));
            return text.toString();
        }
    }

    private static final Count[] REFUSED_GRANTS = {
        GRANTS_NO_SPACE, GRANTS_INDEX_FULL, GRANTS_BUSY, FULL_GRANTS, PUTS_EXISTING
    };
    private static final Count[] LOOKUP_MISSES = {
        LOOKUP_NEVER_PUT,
        LOOKUP_EVICTED,
        LOOKUP_REMOVED,
        LOOKUP_LOST,
        LOOKUP_UNAVAILABLE,
        LOOKUP_VERSION,
        LOOKUP_INVALID
    };
    private static final Count[] EXISTS_MISSES = {
        EXISTS_NEVER_PUT,
        EXISTS_EVICTED,
        EXISTS_REMOVED,
        EXISTS_LOST,
        EXISTS_UNAVAILABLE,
        EXISTS_VERSION,
        EXISTS_INVALID
    };

    /** In the order of Mooncake's own list. */
    public static final List<Row> ROWS = List.of(
            of("master_allocated_bytes", "Bytes of extents in use on ready nodes", PoolStatus::usedBytes),
            of("master_total_capacity_bytes", "Bytes that objects can use on ready nodes", PoolStatus::capacityBytes),
            ofSegments(
                    "segment_allocated_bytes", "Bytes of extents in use on a storage node", PoolStatus.Node::usedBytes),
            ofSegments(
                    "segment_total_capacity_bytes",
                    "Bytes that objects can use on a storage node",
                    PoolStatus.Node::capacityBytes),
            of("master_key_count", "Objects that can be read", PoolStatus::objects),
            missing("master_soft_pin_key_count", "pinned objects are not counted"),
            of("master_active_clients", "Clients connected", PoolStatus::clients),
            missing(
                    "master_value_size_bytes",
                    "no histogram of sizes is kept; `master_allocated_bytes` / `master_key_count` is the mean"),
            counts(
                    "master_put_start_requests_total",
                    "Keys for which clients asked for a put",
                    KEYS + "; not those that are invalid, too large or over a tenant's quota",
                    with(GRANTS, REFUSED_GRANTS)),
            counts(
                    "master_put_start_failures_total",
                    "Keys that were not granted to be put, existing ones among them",
                    KEYS,
                    REFUSED_GRANTS),
            counts("master_put_start_alloc_failures_total", "Puts that found no room", KEYS, GRANTS_NO_SPACE),
            missing(
                    "master_put_start_partial_allocations_total",
                    "`kvpool_master_objects_under_replicated` says how many objects have too few copies now; they are repaired"),
            counts(
                    "master_put_end_requests_total",
                    "Puts that ended with a readable object",
                    KEYS + "; one that fails at its end counts as `master_put_revoke_requests_total`",
                    PUTS),
            counts(
                    "master_put_revoke_requests_total",
                    "Puts that ended without an object",
                    KEYS + "; those that their client gave up and those of which no node showed the object",
                    PUTS_FAILED,
                    PUTS_NO_SPACE),
            missing("master_put_end_failures_total, master_put_revoke_failures_total", "see the two before"),
            counts(
                    "master_get_replica_list_requests_total",
                    "Keys that were looked up",
                    KEYS + "; a read that a client serves by a descriptor it still has asks no master",
                    with(LOOKUP_HITS, LOOKUP_MISSES)),
            counts(
                    "master_get_replica_list_failures_total",
                    "Keys that were looked up and not found",
                    KEYS + "; `kvpool_master_lookup_misses_total` has the reasons",
                    LOOKUP_MISSES),
            counts(
                    "master_exist_key_requests_total",
                    "Existence checks of keys",
                    KEYS,
                    with(EXISTS_HITS, EXISTS_MISSES)),
            counts("master_exist_key_failures_total", "Existence checks of keys that are none", KEYS, EXISTS_INVALID),
            missing(
                    "master_remove_requests_total, master_remove_failures_total, master_remove_all_requests_total, master_remove_all_failures_total",
                    "removals are counted by object: `kvpool_master_removed_total`"),
            missing(
                    "master_batch_{exist_key,get_replica_list,put_start,put_end,put_revoke}_{requests,failures,partial_successes,items,failed_items}_total",
                    "every request is a batch, and each key of it counts in the names without `batch_`"),
            missing(
                    "master_{mount,unmount,remount}_segment_{requests,failures}_total",
                    "storage nodes join by themselves: `kvpool_master_nodes_ready`, `kvpool_master_nodes_expected`"),
            missing(
                    "master_ping_requests_total, master_ping_failures_total",
                    "clients do not ping; `master_active_clients` counts connections"),
            missing(
                    "master_attempted_evictions_total, master_successful_evictions_total",
                    "runs of the eviction are not counted, as each frees what is asked for; `kvpool_master_evictions_short_total` counts those that"
                            + " could not"),
            counts("master_evicted_key_count", "Objects evicted", "", EVICTED),
            counts("master_evicted_size_bytes", "Bytes of extents evicted", "", EVICTED_BYTES),
            counts(
                    "master_put_start_discard_cnt",
                    "Puts that were granted and not ended in time",
                    "when the deadline that their client gave is over; their room is free again with it",
                    GRANTS_EXPIRED),
            missing(
                    "master_put_start_release_cnt, master_put_start_discarded_staging_size",
                    "there is no second wait before the room of a discarded put is free"),
            missing(
                    "master_snapshot_{success,fail,duration_ms}",
                    "masters keep nothing that could be lost: storage nodes do"),
            missing(
                    "master_promotion_*",
                    "`kvpool_master_promotions_total` by outcome, `kvpool_master_demotions_total`, `kvpool_master_prefetched_total`"),
            missing(
                    "master_create_copy_task_*, master_create_move_task_*",
                    "`kvpool_master_copies_started_total`, `kvpool_master_copies_total` by outcome; repairs and drains count there too"),
            ofQuotas(
                    "mooncake_tenant_quota_requested_bytes",
                    GAUGE,
                    "Most bytes that a tenant may have",
                    "`kvpool_master_tenant_ceiling_bytes`",
                    "",
                    MooncakeMetrics::hasCeiling,
                    status -> status.quota().ceilingBytes()),
            ofQuotas(
                    "mooncake_tenant_quota_effective_bytes",
                    GAUGE,
                    "Most bytes that a tenant may have",
                    "`kvpool_master_tenant_ceiling_bytes`",
                    "a ceiling is never scaled down to the capacity",
                    MooncakeMetrics::hasCeiling,
                    status -> status.quota().ceilingBytes()),
            ofQuotas(
                    "mooncake_tenant_quota_used_bytes",
                    GAUGE,
                    "Bytes of a tenant's objects, with the copies that they should have",
                    "with the next one `kvpool_master_tenant_used_bytes`",
                    "",
                    status -> true,
                    status -> status.used().bytes()),
            ofQuotas(
                    "mooncake_tenant_quota_reserved_bytes",
                    GAUGE,
                    "Bytes that a tenant was granted and is putting",
                    "with the one before `kvpool_master_tenant_used_bytes`",
                    "",
                    status -> true,
                    status -> status.used().grantedBytes()),
            ofQuotas(
                    "mooncake_tenant_quota_committed_count",
                    GAUGE,
                    "Objects of a tenant",
                    "`committed_count` of `/api/v1/tenant_quotas`",
                    "",
                    status -> true,
                    status -> status.used().objects()),
            ofQuotas(
                    "mooncake_tenant_quota_over_quota",
                    GAUGE,
                    "1 while a tenant has more than its ceiling, which was lowered",
                    "`over_quota` of `/api/v1/tenant_quotas`",
                    "",
                    status -> true,
                    status -> status.isOver() ? 1 : 0),
            ofQuotas(
                    "mooncake_tenant_quota_explicit_policy",
                    GAUGE,
                    "1 for a tenant that has a quota",
                    "`has_explicit_policy` of `/api/v1/tenant_quotas`",
                    "",
                    status -> true,
                    status -> status.quota().equals(Quota.NONE) ? 0 : 1),
            ofQuotas(
                    "mooncake_tenant_quota_reject_total",
                    COUNTER,
                    "Keys that a tenant was not granted since it was at its ceiling",
                    "`kvpool_master_tenant_quota_refusals_total`",
                    "without the label `reason`, as there is one reason",
                    status -> true,
                    status -> status.costs().refusals()),
            missing("mooncake_tenant_evict_bytes_total", "`kvpool_master_tenant_evicted_objects_total` counts objects"),
            missing(
                    "mooncake_tenant_quota_{allocatable_capacity_bytes,requested_bytes_sum,effective_bytes_sum}",
                    "`master_total_capacity_bytes`, and `sum` of the series of tenants"),
            missing(
                    "ha_oplog_*",
                    "there is no log of operations: standbys follow the storage nodes, and `kvpool_master_ready` says whether one has caught up"),
            missing(
                    "ha_standby_state, ha_state_transitions_total",
                    "`/ha_status` says the state; `kvpool_master_leader`, `kvpool_master_takeovers_total`"),
            missing(
                    "mooncake_transfer_{read,write}_bytes, mooncake_transfer_{put,get,batch_put,batch_get}_latency,"
                            + " mooncake_client_rpc_{count,latency}, mooncake_ssd_*",
                    "numbers of clients, not of a master: `client_http_port` of `mooncake.store` serves the bytes, `stats()` has more; also the metrics of"
                            + " [agents](metrics-agent.md) and [storage nodes](metrics-node.md)"));

    private MooncakeMetrics() {}

    /** The text for Prometheus. */
    static String of(PoolStatus status) {
        return ROWS.stream()
                .filter(row -> row.standing() != Standing.MISSING)
                .map(row -> row.text(status))
                .collect(Collectors.joining());
    }

    private static Row of(String name, String help, ToLongFunction<PoolStatus> value) {
        return new Row(
                name,
                GAUGE,
                help,
                Standing.SAME,
                "the same of `/api/v1/pool`",
                "",
                status -> Map.of("", value.applyAsLong(status)));
    }

    private static Row counts(String name, String help, String note, Count... counted) {
        return new Row(
                name,
                COUNTER,
                help,
                note.isEmpty() ? Standing.SAME : Standing.DIFFERS,
                sources(List.of(counted)),
                note,
                status -> Map.of(
                        "",
                        Arrays.stream(counted).mapToLong(status.counters()::get).sum()));
    }

    /** Series whose sum it is; one of which every reason counts is named without. */
    private static String sources(List<Count> counted) {
        Set<String> sources = new LinkedHashSet<>();
        for (Count count : counted) {
            boolean all = Arrays.stream(Count.values())
                    .filter(other -> other.metric().equals(count.metric()))
                    .allMatch(counted::contains);
            String name = "kvpool_master_" + count.metric() + "_total";
            sources.add(all ? "`%s`".formatted(name) : "`%s{reason=\"%s\"}`".formatted(name, count.reason()));
        }
        return String.join(" + ", sources);
    }

    private static Count[] with(Count first, Count... others) {
        return Stream.concat(Stream.of(first), Arrays.stream(others)).toArray(Count[]::new);
    }

    private static Row ofSegments(String name, String help, ToLongFunction<PoolStatus.Node> value) {
        return new Row(
                name,
                GAUGE,
                help,
                Standing.SAME,
                "the same of `/get_segments_detail`",
                "",
                status -> samples(
                        "segment",
                        PoolStatus.Node::id,
                        value,
                        status.nodes().stream().filter(node -> node.state().servesReaders())));
    }

    private static <T> Map<String, Long> samples(
            String label, Function<T, String> labelled, ToLongFunction<T> value, Stream<T> all) {
        Map<String, Long> samples = new TreeMap<>();
        all.forEach(each -> samples.put(
                "{%s=\"%s\"}".formatted(label, LabelValue.quoted(labelled.apply(each))), value.applyAsLong(each)));
        return samples;
    }

    private static boolean hasCeiling(QuotaStatus status) {
        return status.quota().ceilingBytes() != Quota.UNLIMITED;
    }

    private static Row ofQuotas(
            String name,
            String type,
            String help,
            String reads,
            String note,
            Predicate<QuotaStatus> which,
            ToLongFunction<QuotaStatus> value) {
        return new Row(
                name,
                type,
                help,
                note.isEmpty() ? Standing.SAME : Standing.DIFFERS,
                reads,
                note,
                status -> samples(
                        "tenant_id",
                        QuotaStatus::tenant,
                        value,
                        status.quotas().stream().filter(which)));
    }

    private static Row missing(String names, String why) {
        return new Row(names, "", "", Standing.MISSING, "", why, status -> Collections.emptyMap());
    }
}
