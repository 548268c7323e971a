// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.reconciliation.Reconciliation;

/**
 * Room above the high watermark that puts leave free, so that there is some after a takeover: then everything recovered is
 * leased, nothing of it can be evicted, and a pool that was full would take no puts for seconds. A leader that has to live
 * on it has what is put evict what was put before, and leaves most of it to the next leader; see {@code RoomLimits}.
 */
public final class TakeoverReserve {
    private final CurrentRules rules;
    private final Leadership leadership;
    private final Membership membership;
    private final Reconciliation reconciliation;

    public TakeoverReserve(
            CurrentRules rules, Leadership leadership, Membership membership, Reconciliation reconciliation) {
        this.rules = rules;
        this.leadership = leadership;
        this.membership = membership;
        this.reconciliation = reconciliation;
    }

    /** A new term finds anew what is in use. */
    public void endTerm() {
        membership.all().forEach(this::relax);
    }

    public void tick(long nowMs) {
        boolean scarce = leadership.phase() == Leadership.Phase.SERVING && reconciliation.isRecovering(nowMs);
        for (NodeView node : membership.all()) {
            node.room.tick(nowMs);
            if (scarce && node.usable()) {
                node.room.tightenLimits(rules.eviction());
            } else {
                relax(node);
            }
        }
    }

    private void relax(NodeView node) {
        node.room.relaxLimits(rules.eviction());
    }

    /** The largest extent that always has a place in an empty segment of this size. */
    public long largestExtent(long segmentBytes) {
        return segmentBytes - (long) (segmentBytes * rules.eviction().keptFree());
    }
}
