// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.master.core.count.BucketCounts;
import dev.kvpool.dataplane.master.core.count.RequestCounts;

/** Counts what happened in this life of the master. */
@SuppressWarnings("EnumOrdinal") // an array indexed by the enum is what an EnumMap would be, without boxing
public final class Counters {
    /** What is counted, and the name and help of the metric that shows it. */
    public enum Count {
        GRANTS("grants", "", "Puts granted"),
        GRANTS_NO_SPACE("grants_refused", "no_space", "Puts that were refused"),
        GRANTS_INDEX_FULL("grants_refused", "index_full", "Puts that were refused"),
        GRANTS_BUSY("grants_refused", "busy", "Puts that were refused"),
        GRANTS_PARTIAL("grants_partial", "", "Puts granted to fewer nodes than the copies they asked for"),
        FULL_GRANTS("queue_full", "grants", "Requests refused because a limit was reached"),
        FULL_REPLIES("queue_full", "waiting_requests", "Requests refused because a limit was reached"),
        FULL_TOMBSTONE_WRITES("queue_full", "tombstones", "Requests refused because a limit was reached"),
        FULL_SWEEPS("queue_full", "sweeps", "Requests refused because a limit was reached"),
        GRANTS_EXPIRED("grants_expired", "", "Grants that expired before their client published"),
        PUTS("puts", "published", "Puts by outcome"),
        PUTS_EXISTING("puts", "existing", "Puts by outcome"),
        PUTS_FAILED("puts", "failed", "Puts by outcome"),
        PUTS_NO_SPACE("puts", "no_space", "Puts by outcome"),
        LOOKUP_HITS("lookup_hits", "", "Keys looked up and found"),
        LOOKUP_HITS_SSD("lookup_hits_ssd", "", "Keys looked up and found on an SSD only"),
        LOOKUP_NEVER_PUT("lookup_misses", "never_put", "Keys looked up and not found"),
        LOOKUP_EVICTED("lookup_misses", "evicted", "Keys looked up and not found"),
        LOOKUP_REMOVED("lookup_misses", "removed", "Keys looked up and not found"),
        LOOKUP_LOST("lookup_misses", "lost", "Keys looked up and not found"),
        LOOKUP_UNAVAILABLE("lookup_misses", "unavailable", "Keys looked up and not found"),
        LOOKUP_VERSION("lookup_misses", "version", "Keys looked up and not found"),
        LOOKUP_INVALID("lookup_misses", "invalid_key", "Keys looked up and not found"),
        EXISTS_HITS("exists_hits", "", "Existence checks of keys that exist"),
        EXISTS_NEVER_PUT("exists_misses", "never_put", "Existence checks of keys that do not exist"),
        EXISTS_EVICTED("exists_misses", "evicted", "Existence checks of keys that do not exist"),
        EXISTS_REMOVED("exists_misses", "removed", "Existence checks of keys that do not exist"),
        EXISTS_LOST("exists_misses", "lost", "Existence checks of keys that do not exist"),
        EXISTS_UNAVAILABLE("exists_misses", "unavailable", "Existence checks of keys that do not exist"),
        EXISTS_VERSION("exists_misses", "version", "Existence checks of keys that do not exist"),
        EXISTS_INVALID("exists_misses", "invalid_key", "Existence checks of keys that do not exist"),
        REMOVED("removed", "", "Objects removed on request"),
        EVICTED("evicted", "", "Objects evicted"),
        EVICTED_BYTES("evicted_bytes", "", "Bytes of extents evicted"),
        EVICTION_RUNS("eviction_runs", "", "Evictions begun because a node or the index was full"),
        EVICTION_RUNS_ENOUGH("eviction_runs_enough", "", "Evictions that freed what had to be freed"),
        EVICTIONS_SHORT("evictions_short", "", "Evictions that could not free enough because the rest is leased"),
        EVICTED_UNMARKED(
                "evicted_unmarked",
                "",
                "Objects evicted although an unavailable node may return with an older object of their key"),
        RELEASED("released", "", "Objects whose memory was freed because the SSD of the same node has them"),
        RELEASED_BYTES("released_bytes", "", "Bytes of memory freed because the SSD of the same node has the objects"),
        DEMOTIONS_DONE("demotions", "done", "Objects moved from memory to the SSD of their node"),
        DEMOTIONS_FAILED("demotions", "failed", "Objects moved from memory to the SSD of their node"),
        PROMOTIONS_DONE("promotions", "done", "Objects moved back from an SSD to memory"),
        PROMOTIONS_FAILED("promotions", "failed", "Objects moved back from an SSD to memory"),
        PROMOTIONS_NO_ROOM("promotions", "no_room", "Objects moved back from an SSD to memory"),
        PROMOTIONS_CANCELLED("promotions", "cancelled", "Objects moved back from an SSD to memory"),
        PROMOTIONS_ADMITTED("promotions_admitted", "", "Objects that were to be moved back from an SSD to memory"),
        PROMOTIONS_SELDOM("promotions_refused", "seldom", "Reads from an SSD that led to no move to memory"),
        PROMOTIONS_FULL("promotions_refused", "queue_full", "Reads from an SSD that led to no move to memory"),
        PROMOTED_BYTES("promoted_bytes", "", "Bytes of extents moved back from an SSD to memory"),
        SSD_EVICTED_BYTES("ssd_evicted_bytes", "", "Bytes freed on SSDs to make room there"),
        FULL_RETAINED("queue_full", "retained", "Requests refused because a limit was reached"),
        FULL_TASKS("queue_full", "tasks", "Requests refused because a limit was reached"),
        RETAINED("retained", "", "Objects retained because a client asked for it"),
        RETAINED_EVICTED("retained_evicted", "", "Retained objects evicted because nothing else could be"),
        PREFETCHED("prefetched", "", "Objects that a client asked to have brought from an SSD to memory"),
        SUPERSEDED("superseded", "", "Objects freed because a newer one has their key"),
        DEAD("dead_objects", "", "Objects freed because a removal that their node had missed covers them"),
        COPIES_STARTED("copies_started", "", "Copies from node to node started, for repair or drain"),
        COPIES_DONE("copies", "done", "Copies from node to node finished, by outcome"),
        COPIES_DAMAGED("copies", "damaged_source", "Copies from node to node finished, by outcome"),
        COPIES_GONE("copies", "source_gone", "Copies from node to node finished, by outcome"),
        COPIES_FAILED("copies", "failed", "Copies from node to node finished, by outcome"),
        COPIES_LOST("copies_lost", "", "Copies freed because their object was removed before they were complete"),
        COPIED_BYTES("copied_bytes", "", "Bytes of extents copied from node to node"),
        DRAINED("drained", "", "Objects copied from a node that is being drained"),
        DRAINED_BYTES("drained_bytes", "", "Bytes of extents copied from a node that is being drained"),
        TRIMMED("trimmed", "", "Replicas freed because their object had more than wanted"),
        NODES_DISTRUSTED("nodes_distrusted", "", "Times a node was avoided for a while after a failed transfer"),
        REPLACED("replaced", "", "Objects that an upsert of their key replaced"),
        LEFT_OVERS("left_overs", "", "Objects freed because their put was not finished"),
        NODES_JOINED("nodes_joined", "first", "Nodes that took part after their directory was read"),
        NODES_REJOINED("nodes_joined", "again", "Nodes that took part after their directory was read"),
        NODES_REFUSED("nodes_refused", "first", "Connections of nodes refused"),
        NODES_REFUSED_AGAIN("nodes_refused", "again", "Connections of nodes refused"),
        NODES_LEFT("nodes_left", "", "Nodes that ended in order, and their memory with them"),
        CLIENT_HEARTBEATS("client_heartbeats", "", "Heartbeats of clients"),
        CLIENTS_SILENT("clients_silent", "", "Connections of clients closed because nothing came from them"),
        ROLE_CHANGES("role_changes", "", "Times this master began to lead, to serve or to stand by"),
        TAKEOVERS("takeovers", "", "Times this master started to serve as leader"),
        EPOCH_RAISES("epoch_raises", "", "Times a node reported a higher epoch than this leader's"),
        HANDOVERS_BLIND(
                "handovers",
                "blind",
                "Times this leader handed over by itself, because fewer than half of the storage nodes were connected to it"),
        SET_APART_VIOLATION(
                "set_apart", "violation", "Times a node was excluded because its reports could not be processed"),
        SET_APART_EPOCH("set_apart", "epoch", "Times a node was excluded because its reports could not be processed"),
        SET_APART_INDEX_FULL(
                "set_apart", "index_full", "Times a node was excluded because its reports could not be processed"),
        SET_APART_DEFECT("set_apart", "defect", "Times a node was excluded because its reports could not be processed"),
        LENDING_REFUSED(
                "lending_refused", "", "Connections of engines refused because memory is lent by as many as may"),
        STREAM_VIOLATIONS(
                "stream_violations", "", "Connections closed because of a gap in the stream or an unexpected message");

        private final String metric;
        private final String reason;
        private final String help;

        Count(String metric, String reason, String help) {
            this.metric = metric;
            this.reason = reason;
            this.help = help;
        }

        /** Name of the metric without prefix and unit. */
        public String metric() {
            return metric;
        }

        /** Value of the metric's label {@code reason}; empty when it has none. */
        public String reason() {
            return reason;
        }

        public String help() {
            return help;
        }
    }

    private static final long[] AGES_MS = {
        1_000, 3_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000, 14_400_000, 86_400_000
    };

    private static final long[] SIZES_OF_MOONCAKE = {
        4_096, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864
    };

    private final long[] counts;
    private final BucketCounts ages;
    private final BucketCounts sizes;
    private final RequestCounts requests;

    public Counters() {
        this(
                new long[Count.values().length],
                new BucketCounts(AGES_MS),
                new BucketCounts(SIZES_OF_MOONCAKE),
                new RequestCounts());
    }

    private Counters(long[] counts, BucketCounts ages, BucketCounts sizes, RequestCounts requests) {
        this.counts = counts;
        this.ages = ages;
        this.sizes = sizes;
        this.requests = requests;
    }

    public void add(Count what) {
        add(what, 1);
    }

    public void add(Count what, long times) {
        counts[what.ordinal()] += times;
    }

    public long get(Count what) {
        return counts[what.ordinal()];
    }

    /** For how many milliseconds evicted objects had not been used. Short times mean that the pool is too small. */
    public BucketCounts ages() {
        return ages;
    }

    /** How large the values are that were put. */
    public BucketCounts sizes() {
        return sizes;
    }

    /** How requests of clients were answered. */
    public RequestCounts requests() {
        return requests;
    }

    /** A copy that no longer changes. */
    public Counters copy() {
        return new Counters(counts.clone(), ages.copy(), sizes.copy(), requests.copy());
    }
}
