// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

/** Counts what happened in this life of the master. */
@SuppressWarnings("EnumOrdinal") // an array indexed by the enum is what an EnumMap would be, without boxing
public final class Counters {
    /** What is counted, and the name and help of the metric that shows it. */
    public enum Count {
        GRANTS("grants", "", "Puts granted"),
        GRANTS_NO_SPACE("grants_refused", "no_space", "Puts refused a grant"),
        GRANTS_INDEX_FULL("grants_refused", "index_full", "Puts refused a grant"),
        GRANTS_BUSY("grants_refused", "busy", "Puts refused a grant"),
        FULL_GRANTS("queue_full", "grants", "Times a client was refused because something was as many as may be"),
        FULL_REPLIES(
                "queue_full", "waiting_requests", "Times a client was refused because something was as many as may be"),
        FULL_TOMBSTONE_WRITES(
                "queue_full", "tombstones", "Times a client was refused because something was as many as may be"),
        FULL_SWEEPS("queue_full", "sweeps", "Times a client was refused because something was as many as may be"),
        GRANTS_EXPIRED("grants_expired", "", "Grants whose client never published"),
        PUTS("puts", "published", "Puts by outcome"),
        PUTS_EXISTING("puts", "existing", "Puts by outcome"),
        PUTS_FAILED("puts", "failed", "Puts by outcome"),
        PUTS_NO_SPACE("puts", "no_space", "Puts by outcome"),
        LOOKUP_HITS("lookup_hits", "", "Keys looked up and found"),
        LOOKUP_HITS_SSD("lookup_hits_ssd", "", "Keys looked up and found on an SSD only"),
        LOOKUP_NEVER_PUT("lookup_misses", "never_put", "Keys looked up and not found"),
        LOOKUP_EVICTED("lookup_misses", "evicted", "Keys looked up and not found"),
        LOOKUP_REMOVED("lookup_misses", "removed", "Keys looked up and not found"),
        LOOKUP_UNAVAILABLE("lookup_misses", "unavailable", "Keys looked up and not found"),
        LOOKUP_VERSION("lookup_misses", "version", "Keys looked up and not found"),
        LOOKUP_INVALID("lookup_misses", "invalid_key", "Keys looked up and not found"),
        EXISTS_HITS("exists_hits", "", "Keys asked for and present"),
        EXISTS_NEVER_PUT("exists_misses", "never_put", "Keys asked for and absent"),
        EXISTS_EVICTED("exists_misses", "evicted", "Keys asked for and absent"),
        EXISTS_REMOVED("exists_misses", "removed", "Keys asked for and absent"),
        EXISTS_UNAVAILABLE("exists_misses", "unavailable", "Keys asked for and absent"),
        EXISTS_VERSION("exists_misses", "version", "Keys asked for and absent"),
        EXISTS_INVALID("exists_misses", "invalid_key", "Keys asked for and absent"),
        REMOVED("removed", "", "Objects removed on request"),
        EVICTED("evicted", "", "Objects evicted"),
        EVICTED_BYTES("evicted_bytes", "", "Bytes of extents evicted"),
        EVICTIONS_SHORT("evictions_short", "", "Eviction plans that could not free enough because the rest is leased"),
        EVICTED_UNMARKED(
                "evicted_unmarked", "", "Objects evicted although an older one of their key may come back with a node"),
        RELEASED("released", "", "Objects whose memory was freed because the SSD of the same node has them"),
        RELEASED_BYTES("released_bytes", "", "Bytes of memory freed so"),
        DEMOTIONS_DONE("demotions", "done", "Objects sent from memory to the SSD of their node"),
        DEMOTIONS_FAILED("demotions", "failed", "Objects sent from memory to the SSD of their node"),
        PROMOTIONS_DONE("promotions", "done", "Objects brought back from an SSD to memory"),
        PROMOTIONS_FAILED("promotions", "failed", "Objects brought back from an SSD to memory"),
        SSD_EVICTED_BYTES("ssd_evicted_bytes", "", "Bytes freed on SSDs to make room there"),
        SUPERSEDED("superseded", "", "Objects freed because a newer one has their key"),
        DEAD("dead_objects", "", "Objects freed because a removal that their node had missed covers them"),
        COPIES_STARTED("copies_started", "", "Copies from node to node begun, for repair or drain"),
        COPIES_DONE("copies", "done", "Copies from node to node ended"),
        COPIES_DAMAGED("copies", "damaged_source", "Copies from node to node ended"),
        COPIES_GONE("copies", "source_gone", "Copies from node to node ended"),
        COPIES_FAILED("copies", "failed", "Copies from node to node ended"),
        COPIES_LOST("copies_lost", "", "Copies freed because their object was gone when they arrived"),
        COPIED_BYTES("copied_bytes", "", "Bytes of extents copied from node to node"),
        DRAINED("drained", "", "Objects copied from a node that is being drained"),
        DRAINED_BYTES("drained_bytes", "", "Bytes of extents copied from a node that is being drained"),
        TRIMMED("trimmed", "", "Replicas freed because their object had more than it should"),
        NODES_DISTRUSTED("nodes_distrusted", "", "Times a node was not chosen for a while after a failed transfer"),
        REPLACED("replaced", "", "Objects that an upsert of their key replaced"),
        LEFT_OVERS("left_overs", "", "Objects freed because their put was never finished"),
        TAKEOVERS("takeovers", "", "Times this master began to serve"),
        EPOCH_RAISES("epoch_raises", "", "Times a node knew a higher epoch than this leader's"),
        SET_APART_VIOLATION(
                "set_apart", "violation", "Times a node was left out because its stream could not be followed"),
        SET_APART_INDEX_FULL(
                "set_apart", "index_full", "Times a node was left out because its stream could not be followed"),
        SET_APART_DEFECT("set_apart", "defect", "Times a node was left out because its stream could not be followed"),
        STREAM_VIOLATIONS("stream_violations", "", "Connections ended for a broken stream or a message out of place");

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

    private final long[] counts;
    private final AgeHistogram ages;

    public Counters() {
        this(new long[Count.values().length], new AgeHistogram());
    }

    private Counters(long[] counts, AgeHistogram ages) {
        this.counts = counts;
        this.ages = ages;
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

    /** How long evicted objects had not been used. */
    public AgeHistogram ages() {
        return ages;
    }

    /** A copy that no longer changes. */
    public Counters copy() {
        return new Counters(counts.clone(), ages.copy());
    }
}
