// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

/**
 * Room above the high watermark that puts leave free, so that there is some after a takeover: then everything recovered is
 * leased, nothing can be evicted, and a pool that was full would take no puts for seconds.
 */
final class TakeoverReserve {
    private final double share;
    private final Membership membership;
    private final Settlement settlement;

    TakeoverReserve(EvictionRules rules, Membership membership, Settlement settlement) {
        this.share = rules.keptFree();
        this.membership = membership;
        this.settlement = settlement;
    }

    void tick(long nowMs) {
        double kept = settlement.isRecovering(nowMs) ? 0 : share;
        for (NodeView node : membership.all()) {
            node.keptBytes = (long) (node.capacityBytes * kept);
            node.keptSlots = (long) (node.capacitySlots * kept);
        }
    }

    /** The largest extent that always has a place in an empty segment of this size. */
    long largestExtent(long segmentBytes) {
        return segmentBytes - (long) (segmentBytes * share);
    }
}
