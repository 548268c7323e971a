// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

import static dev.kvpool.dataplane.master.core.base.Counters.Count.CLIENTS_SILENT;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.CLIENT_HEARTBEATS;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.EVICTED;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.EVICTED_BYTES;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.EVICTION_RUNS;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.EVICTION_RUNS_ENOUGH;
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
import static dev.kvpool.dataplane.master.core.base.Counters.Count.GRANTS_PARTIAL;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.LOOKUP_EVICTED;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.LOOKUP_HITS;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.LOOKUP_INVALID;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.LOOKUP_LOST;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.LOOKUP_NEVER_PUT;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.LOOKUP_REMOVED;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.LOOKUP_UNAVAILABLE;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.LOOKUP_VERSION;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.NODES_JOINED;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.NODES_LEFT;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.NODES_REFUSED;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.NODES_REFUSED_AGAIN;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.NODES_REJOINED;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.PROMOTED_BYTES;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.PROMOTIONS_ADMITTED;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.PROMOTIONS_CANCELLED;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.PROMOTIONS_DONE;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.PROMOTIONS_FAILED;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.PROMOTIONS_FULL;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.PROMOTIONS_NO_ROOM;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.PROMOTIONS_SELDOM;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.PUTS_EXISTING;
import static dev.kvpool.dataplane.master.core.base.Counters.Count.ROLE_CHANGES;

import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.count.BucketCounts;
import dev.kvpool.dataplane.master.core.count.RequestCounts;
import dev.kvpool.dataplane.master.core.count.RequestCounts.Kind;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.master.core.report.QuotaStatus;
import dev.kvpool.dataplane.master.core.tenant.Quota;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Mooncake's names of metrics, for dashboards and scripts that ask for them, and what each reads here: nothing is counted twice.
 * docs/reference/mooncake-http.md is made of this table.
 */
public final class MooncakeMetrics {
    private static final String KEYS = "of keys";
    private static final String GAUGE = "gauge";
    private static final String COUNTER = "counter";
    private static final String HISTOGRAM = "histogram";
    private static final String OF_CLIENTS = "of clients, at `client_http_port`";
    private static final String OF_NODES = "of storage nodes, which have the SSDs, at their admin port";
    private static final String NO_LOG =
            "there is no log of operations: standbys follow the storage nodes, and `kvpool_master_ready` says whether one has caught up";

    /** How a name stands to Mooncake's. */
    public enum Standing {
        SAME,
        DIFFERS
    }

    /**
     * One name, or several that are alike.
     *
     * @param name several with commas between them, or in braces
     * @param type gauge, counter or histogram
     * @param reads what it is here
     * @param note how it differs
     * @param series what is served; none where clients and storage nodes serve it
     */
    public record Row(String name, String type, Standing standing, String reads, String note, List<Series> series) {}

    /**
     * What is served under one name.
     *
     * @param help for Prometheus
     * @param values of each sample what follows the name, such as labels in braces, and its value
     */
    public record Series(String name, String type, String help, Function<PoolStatus, Map<String, Long>> values) {
        private String text(PoolStatus status) {
            StringBuilder text = new StringBuilder("# HELP %s %s\n# TYPE %s %s\n".formatted(name, help, name, type));
            values.apply(status).forEach((rest, value) -> text.append("%s%s %d\n".formatted(name, rest, value)));
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
            one(
                    GAUGE,
                    "master_soft_pin_key_count",
                    "Objects that were put with a soft pin",
                    "the objects of this master",
                    "also those of which the pin has ended",
                    PoolStatus::softPinnedObjects),
            of("master_active_clients", "Clients connected", PoolStatus::clients),
            row(
                    "master_value_size_bytes",
                    HISTOGRAM,
                    "puts that ended with a readable object",
                    "",
                    new Series(
                            "master_value_size_bytes",
                            HISTOGRAM,
                            "Sizes of values that were put",
                            status -> buckets(status.counters().sizes()))),
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
            counts(
                    "master_put_start_partial_allocations_total",
                    "Puts granted to fewer nodes than the copies they asked for",
                    KEYS + "; the copies are made once there is room",
                    GRANTS_PARTIAL),
            ofItems(
                    Kind.PUT_END,
                    "Puts that their client has written",
                    KEYS + "; it fails when its grant has ended, or no node shows the object"),
            ofItems(
                    Kind.PUT_REVOKE,
                    "Puts that their client gave up",
                    KEYS + "; it fails when the grant has ended already"),
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
            ofItems(Kind.REMOVE, "Removals of keys", KEYS),
            ofItems(Kind.REMOVE_BY_REGEX, "Removals by a pattern of keys", ""),
            ofItems(Kind.REMOVE_ALL, "Removals of everything", ""),
            ofBatches(
                    "every request is a batch, also of one key, so that these count all of them. A publish that ends some puts and gives up others is one"
                            + " request of each",
                    Kind.EXIST_KEY,
                    Kind.GET_REPLICA_LIST,
                    Kind.PUT_START,
                    Kind.PUT_END,
                    Kind.PUT_REVOKE),
            row(
                    "master_mount_segment_{requests,failures}_total",
                    COUNTER,
                    "`kvpool_master_nodes_joined_total{reason=\"first\"}`, `kvpool_master_nodes_refused_total{reason=\"first\"}`",
                    "storage nodes and engines that lend memory join by themselves: those that took part for the first time in the life of this master,"
                            + " and connections that were refused",
                    single(
                            COUNTER,
                            "master_mount_segment_requests_total",
                            "Nodes that came",
                            status -> count(status, NODES_JOINED, NODES_REFUSED)),
                    single(
                            COUNTER,
                            "master_mount_segment_failures_total",
                            "Nodes that were refused",
                            status -> count(status, NODES_REFUSED))),
            row(
                    "master_unmount_segment_{requests,failures}_total",
                    COUNTER,
                    "`kvpool_master_nodes_left_total`",
                    "engines that ended in order; none of them fails",
                    single(
                            COUNTER,
                            "master_unmount_segment_requests_total",
                            "Nodes that left",
                            status -> count(status, NODES_LEFT)),
                    single(COUNTER, "master_unmount_segment_failures_total", "None of them fails", status -> 0)),
            row(
                    "master_remount_segment_{requests,failures}_total",
                    COUNTER,
                    "`kvpool_master_nodes_joined_total{reason=\"again\"}`, `kvpool_master_nodes_refused_total{reason=\"again\"}`",
                    "nodes that came back, with what they hold",
                    single(
                            COUNTER,
                            "master_remount_segment_requests_total",
                            "Nodes that came back",
                            status -> count(status, NODES_REJOINED, NODES_REFUSED_AGAIN)),
                    single(
                            COUNTER,
                            "master_remount_segment_failures_total",
                            "Nodes that came back and were refused",
                            status -> count(status, NODES_REFUSED_AGAIN))),
            row(
                    "master_ping_{requests,failures}_total",
                    COUNTER,
                    "`kvpool_master_client_heartbeats_total`, `kvpool_master_clients_silent_total`",
                    "clients are heard on their connections; a failure is a connection that was closed as nothing came",
                    single(
                            COUNTER,
                            "master_ping_requests_total",
                            "Heartbeats of clients",
                            status -> count(status, CLIENT_HEARTBEATS)),
                    single(
                            COUNTER,
                            "master_ping_failures_total",
                            "Connections of clients closed because nothing came from them",
                            status -> count(status, CLIENTS_SILENT))),
            counts(
                    "master_attempted_evictions_total",
                    "Evictions begun because a node or the index was full",
                    "one lasts until what has to be freed is freed, or nothing more may go",
                    EVICTION_RUNS),
            counts(
                    "master_successful_evictions_total",
                    "Evictions that freed what had to be freed",
                    "`kvpool_master_evictions_short_total` counts the others",
                    EVICTION_RUNS_ENOUGH),
            counts("master_evicted_key_count", "Objects evicted", "", EVICTED),
            counts("master_evicted_size_bytes", "Bytes of extents evicted", "", EVICTED_BYTES),
            counts(
                    "master_put_start_discard_cnt",
                    "Puts that were granted and not ended in time",
                    "when the deadline that their client gave is over; their room is free again with it",
                    GRANTS_EXPIRED),
            counts(
                    "master_put_start_release_cnt",
                    "Puts whose room was given back as they did not end in time",
                    "with the discard: there is no second wait",
                    GRANTS_EXPIRED),
            zeros(
                    GAUGE,
                    "master_put_start_discarded_",
                    "0",
                    "the room of a discarded put is free at once",
                    "staging_size"),
            zeros(
                    COUNTER,
                    "master_snapshot_",
                    "0, as of a Mooncake master without snapshots",
                    "masters keep nothing that could be lost, and make none: storage nodes have the index",
                    "success",
                    "fail"),
            zeros(HISTOGRAM, "master_snapshot_", "empty", "as the two before", "duration_ms"),
            one(
                    GAUGE,
                    "master_promotion_in_flight",
                    "Moves from an SSD to memory that wait or are being made",
                    "the moves of this master",
                    "",
                    PoolStatus::promotionsUnderWay),
            counts(
                    "master_promotion_admitted_total",
                    "Moves from an SSD to memory that were to be made",
                    "with those that a client asked for (`prefetch`)",
                    PROMOTIONS_ADMITTED),
            counts("master_promotion_completed_total", "Moves from an SSD to memory", "", PROMOTIONS_DONE),
            counts("master_promotion_completed_bytes_total", "Bytes moved from an SSD to memory", "", PROMOTED_BYTES),
            counts(
                    "master_promotion_failed_total",
                    "Moves from an SSD to memory that failed",
                    "with those that ran out of time, which is `master_promotion_expired_total` there",
                    PROMOTIONS_FAILED),
            zeros(COUNTER, "master_promotion_", "0", "see the one before", "expired_total"),
            counts(
                    "master_promotion_cancelled_total",
                    "Moves from an SSD to memory that were not begun, as the object had gone or the leader changed",
                    "",
                    PROMOTIONS_CANCELLED),
            counts(
                    "master_promotion_rejected_frequency_total",
                    "Reads from an SSD of what is not read often enough to be moved to memory",
                    "",
                    PROMOTIONS_SELDOM),
            counts(
                    "master_promotion_rejected_watermark_total",
                    "Moves from an SSD to memory that were not begun for want of room",
                    "when its turn comes, after it was admitted",
                    PROMOTIONS_NO_ROOM),
            counts(
                    "master_promotion_rejected_cap_total",
                    "Reads from an SSD that led to no move since too many wait",
                    "",
                    PROMOTIONS_FULL),
            ofItems(
                    Kind.CREATE_COPY_TASK,
                    "Copies that clients asked for",
                    "a task that is created and fails later counts in `kvpool_master_copies_total`"),
            ofItems(Kind.CREATE_MOVE_TASK, "Moves that clients asked for", "as the one before"),
            ofItems(Kind.QUERY_TASK, "Questions for the state of a copy or move", ""),
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
            ofQuotas(
                    "mooncake_tenant_evict_bytes_total",
                    COUNTER,
                    "Bytes of a tenant's objects that were evicted",
                    "beside `kvpool_master_tenant_evicted_objects_total`",
                    "for whatever cause, and with all copies; Mooncake counts those for the tenant's own quota",
                    status -> true,
                    status -> status.costs().evictedBytes()),
            one(
                    GAUGE,
                    "mooncake_tenant_quota_allocatable_capacity_bytes",
                    "Bytes that objects of any tenant can use on ready nodes",
                    "`sharedCapacityBytes` of `/api/v1/pool`",
                    "",
                    PoolStatus::sharedCapacityBytes),
            row(
                    "mooncake_tenant_quota_{requested,effective}_bytes_sum",
                    GAUGE,
                    "sum of `kvpool_master_tenant_ceiling_bytes`",
                    "a ceiling is never scaled down to the capacity, so that both are the same",
                    single(
                            GAUGE,
                            "mooncake_tenant_quota_requested_bytes_sum",
                            "Most bytes that all tenants with a ceiling may have",
                            MooncakeMetrics::ceilings),
                    single(
                            GAUGE,
                            "mooncake_tenant_quota_effective_bytes_sum",
                            "Most bytes that all tenants with a ceiling may have",
                            MooncakeMetrics::ceilings)),
            one(
                    GAUGE,
                    "ha_oplog_standby_lag",
                    "Expected storage nodes with which this master has not caught up",
                    "`kvpool_master_nodes_expected` - `kvpool_master_nodes_ready`",
                    "in storage nodes, as masters follow these: 0 where a takeover would find everything",
                    status -> (long) status.expectedNodes() - status.readyNodes()),
            zeros(
                    GAUGE,
                    "ha_oplog_",
                    "0, as of a Mooncake master without `enable_oplog`",
                    NO_LOG,
                    "last_sequence_id",
                    "applied_sequence_id",
                    "pending_entries"),
            zeros(
                    COUNTER,
                    "ha_oplog_",
                    "0, likewise",
                    NO_LOG,
                    "skipped_entries_total",
                    "checksum_failures_total",
                    "gap_resolve_attempts_total",
                    "gap_resolve_success_total",
                    "etcd_write_failures_total",
                    "etcd_write_retries_total",
                    "watch_disconnections_total",
                    "applied_entries_total",
                    "dropped_put_end_total",
                    "batch_commits_total",
                    "sync_batch_commits_total"),
            zeros(HISTOGRAM, "ha_oplog_", "empty, likewise", NO_LOG, "etcd_write_latency_us", "apply_latency_us"),
            one(
                    GAUGE,
                    "ha_standby_state",
                    "1 connects, 2 reads the directories of storage nodes, 3 follows them, 6 takes over, 7 serves",
                    "`/role`, `kvpool_master_ready`",
                    "with the numbers of Mooncake's states; the others do not occur",
                    MooncakeMetrics::standbyState),
            counts(
                    "ha_state_transitions_total",
                    "Times this master began to lead, to serve or to stand by",
                    "only these changes",
                    ROLE_CHANGES),
            elsewhere(
                    "mooncake_transfer_{read,write}_bytes",
                    COUNTER,
                    "`get_bytes`, `put_bytes` of `stats()`",
                    OF_CLIENTS),
            elsewhere(
                    "mooncake_transfer_{batch_put,batch_get}_latency",
                    HISTOGRAM,
                    "`put_batch_us` and its like of `stats()`, in microseconds",
                    OF_CLIENTS
                            + "; of all puts and gets, as each is a batch; buckets of 100 us to 1 s in steps of ten"),
            elsewhere(
                    "mooncake_transfer_{put,get}_latency",
                    HISTOGRAM,
                    "`single_put` and `single_get` of `durations()`",
                    OF_CLIENTS + "; of puts and gets of one key, which are also among the batches; the same buckets"),
            elsewhere(
                    "mooncake_client_rpc_{count,latency}",
                    COUNTER + ", " + HISTOGRAM,
                    "the rest of `durations()`",
                    OF_CLIENTS
                            + "; of requests to the leader, in microseconds, which are measured in milliseconds: buckets of 10 ms to 1 s in steps of ten;"
                            + " `rpc_name` is the name with `Batch` where Mooncake has one, and `Hint` for requests that it does not have"),
            elsewhere(
                    "mooncake_ssd_{read,write,total}_{ops,bytes}_total",
                    COUNTER,
                    "`kvpool_node_ssd_reads_total` and its like",
                    OF_NODES),
            elsewhere(
                    "mooncake_ssd_{read,write,total}_latency_us",
                    HISTOGRAM,
                    "`kvpool_node_ssd_read_duration_seconds` and its like",
                    OF_NODES
                            + "; of objects one by one, with the wait for others; buckets of 100 us to 1 s in steps of ten"));

    private MooncakeMetrics() {}

    /** The text for Prometheus. */
    static String of(PoolStatus status) {
        return ROWS.stream()
                .flatMap(row -> row.series().stream())
                .map(series -> series.text(status))
                .collect(Collectors.joining());
    }

    private static Row of(String name, String help, ToLongFunction<PoolStatus> value) {
        return one(GAUGE, name, help, "the same of `/api/v1/pool`", "", value);
    }

    private static Row counts(String name, String help, String note, Count... counted) {
        return one(COUNTER, name, help, sources(List.of(counted)), note, status -> count(status, counted));
    }

    private static Row one(
            String type, String name, String help, String reads, String note, ToLongFunction<PoolStatus> value) {
        return row(name, type, reads, note, single(type, name, help, value));
    }

    private static Row row(String name, String type, String reads, String note, Series... series) {
        return new Row(name, type, note.isEmpty() ? Standing.SAME : Standing.DIFFERS, reads, note, List.of(series));
    }

    private static Series single(String type, String name, String help, ToLongFunction<PoolStatus> value) {
        return new Series(name, type, help, status -> Map.of("", value.applyAsLong(status)));
    }

    /** Requests and failures of one kind that Mooncake has as single requests: each item is one. */
    private static Row ofItems(Kind kind, String what, String note) {
        String name = "master_" + kind.name().toLowerCase(Locale.ROOT);
        return row(
                name + "_{requests,failures}_total",
                COUNTER,
                "answers to clients",
                note,
                single(COUNTER, name + "_requests_total", what, status -> items(status, kind)),
                single(
                        COUNTER,
                        name + "_failures_total",
                        what + ", and failed",
                        status -> status.counters().requests().of(kind).failedItems()));
    }

    private static long items(PoolStatus status, Kind kind) {
        return status.counters().requests().of(kind).items();
    }

    private static Series ofBatch(Kind kind, String count, String help, ToLongFunction<RequestCounts.Sum> value) {
        String name = "master_batch_%s_%s_total".formatted(kind.name().toLowerCase(Locale.ROOT), count);
        return single(
                COUNTER,
                name,
                help,
                status -> value.applyAsLong(status.counters().requests().of(kind)));
    }

    private static Row ofBatches(String note, Kind... kinds) {
        List<Series> series = new ArrayList<>();
        for (Kind kind : kinds) {
            series.add(ofBatch(kind, "requests", "Requests answered", RequestCounts.Sum::requests));
            series.add(ofBatch(kind, "failures", "Requests of which all items failed", RequestCounts.Sum::failures));
            series.add(ofBatch(
                    kind,
                    "partial_successes",
                    "Requests of which some items failed",
                    RequestCounts.Sum::partialSuccesses));
            series.add(ofBatch(kind, "items", "Items of requests", RequestCounts.Sum::items));
            series.add(ofBatch(kind, "failed_items", "Items that failed", RequestCounts.Sum::failedItems));
        }
        String names = Arrays.stream(kinds)
                .map(kind -> kind.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(","));
        return row(
                "master_batch_{%s}_{requests,failures,partial_successes,items,failed_items}_total".formatted(names),
                COUNTER,
                "answers to clients",
                note,
                series.toArray(Series[]::new));
    }

    private static Row elsewhere(String name, String type, String reads, String note) {
        return row(name, type, reads, note);
    }

    /** Of something that there is none of. */
    private static Row zeros(String type, String prefix, String reads, String note, String... rests) {
        String pattern = rests.length == 1 ? rests[0] : "{" + String.join(",", rests) + "}";
        return row(
                prefix + pattern,
                type,
                reads,
                note,
                Arrays.stream(rests)
                        .map(rest -> new Series(
                                prefix + rest,
                                type,
                                "There is none of that here",
                                status -> type.equals(HISTOGRAM) ? buckets(new BucketCounts()) : Map.of("", 0L)))
                        .toArray(Series[]::new));
    }

    private static Map<String, Long> buckets(BucketCounts counted) {
        Map<String, Long> samples = new LinkedHashMap<>();
        List<Long> bounds = counted.bounds();
        List<Long> counts = counted.counts();
        long all = 0;
        for (int bucket = 0; bucket < counts.size(); bucket++) {
            all += counts.get(bucket);
            String bound = bucket == bounds.size() ? "+Inf" : bounds.get(bucket).toString();
            samples.put("_bucket{le=\"%s\"}".formatted(bound), all);
        }
        samples.put("_sum", counted.sum());
        samples.put("_count", all);
        return samples;
    }

    /** How Mooncake numbers what a standby does. */
    private static long standbyState(PoolStatus status) {
        return switch (status.state()) {
            case STARTING -> 1;
            case STANDBY -> status.notReady().isEmpty() ? 3 : status.connectedNodes() == 0 ? 1 : 2;
            case RECOVERING -> 6;
            case SERVING -> 7;
        };
    }

    private static long ceilings(PoolStatus status) {
        return status.quotas().stream()
                .filter(MooncakeMetrics::hasCeiling)
                .mapToLong(each -> each.quota().ceilingBytes())
                .sum();
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

    private static long count(PoolStatus status, Count... counted) {
        return Arrays.stream(counted).mapToLong(status.counters()::get).sum();
    }

    private static Count[] with(Count first, Count... others) {
        return Stream.concat(Stream.of(first), Arrays.stream(others)).toArray(Count[]::new);
    }

    private static Row ofSegments(String name, String help, ToLongFunction<PoolStatus.Node> value) {
        return row(
                name,
                GAUGE,
                "the same of `/get_segments_detail`",
                "",
                new Series(
                        name,
                        GAUGE,
                        help,
                        status -> samples(
                                "segment",
                                PoolStatus.Node::id,
                                value,
                                status.nodes().stream()
                                        .filter(node -> node.state().servesReaders()))));
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
        return row(
                name,
                type,
                reads,
                note,
                new Series(
                        name,
                        type,
                        help,
                        status -> samples(
                                "tenant_id",
                                QuotaStatus::tenant,
                                value,
                                status.quotas().stream().filter(which))));
    }
}
