// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.room;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.EvictionRules;

/**
 * How much of one kind of room of a node, bytes or directory slots, new objects may take, and between which marks eviction
 * works. After a takeover all that was found is leased and only what was put since can go: then the marks of a full node lie
 * within what was found free, and most of the reserve is kept back for the leader after this one, who may come before the
 * leases have ended and will find leased whatever this one has put.
 */
public final class RoomLimits {
    /** The part of the reserve that a leader leaves to the next as long as nothing that it found can be evicted. */
    private static final double LEFT_TO_THE_NEXT = 0.75;

    /** Between the marks, and above the upper one, lies each time this part of what puts may use then. */
    private static final double STEP = 0.25;

    private static final long NOT_FOUND = Long.MAX_VALUE;

    private long kept;
    private long keptAbove = Long.MIN_VALUE;
    private double evictAbove = Double.MAX_VALUE;
    private double evictTo = Double.MAX_VALUE;
    private long found = NOT_FOUND;

    /**
     * What is there may be evicted.
     *
     * @param ahead what writers need free at once: where less than this lies between the upper mark and the kept room, both marks lie lower
     */
    void relax(long capacity, EvictionRules rules, long ahead) {
        found = NOT_FOUND;
        kept = (long) (capacity * rules.keptFree());
        keptAbove = Long.MIN_VALUE;
        double upTo = capacity - kept - Math.min((double) ahead, capacity * Bounds.AHEAD_MAX);
        evictAbove = Math.min(capacity * rules.high(), upTo);
        evictTo = Math.max(0, evictAbove - capacity * (rules.high() - rules.low()));
    }

    /**
     * A leader has begun a while ago, and what it found in use cannot be evicted yet.
     *
     * @param used room in use now; the least since the leader began is taken for what it found
     */
    void tighten(long capacity, long used, EvictionRules rules) {
        found = Math.min(found, used);
        double room = Math.max(0, capacity - found);
        double left = Math.min(capacity * rules.keptFree(), room) * LEFT_TO_THE_NEXT;
        double usable = room - left;
        kept = (long) Math.ceil(left);
        keptAbove = found;
        evictAbove = capacity * rules.high();
        evictTo = capacity * rules.low();
        if (found > evictTo) {
            // The lower mark cannot be reached, and all that was put would be evicted in the attempt.
            evictAbove = Math.max(evictAbove, capacity - left - STEP * usable);
            evictTo = Math.max(evictTo, evictAbove - STEP * usable);
        }
    }

    /** What puts find free when so much is in use or promised. An object may take the kept room as the first since a takeover. */
    long free(long capacity, long held) {
        long free = capacity - held;
        return held > keptAbove ? free - kept : free;
    }

    /** Whether less than half is left between where eviction begins and where puts find no room. */
    public boolean isUrgent(long capacity, long held) {
        return held > (evictAbove + capacity - kept) / 2;
    }

    public boolean isAbove(long held) {
        return held > evictAbove;
    }

    /** What must go once eviction has begun. */
    public long excess(long held) {
        return (long) Math.ceil(held - evictTo);
    }
}
