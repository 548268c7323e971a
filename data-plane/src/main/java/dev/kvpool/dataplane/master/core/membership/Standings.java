// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.membership;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;

/**
 * How gladly new objects are put on a node. After a failed transfer it is not chosen for a while, longer each time, as long
 * as there are others; it comes back by itself when it is connected and fenced. A node that has come much emptier than the
 * others is filled slowly, or every new and soon hot object would lie on one node.
 */
public final class Standings {
    /** What is held against a node, and for how long. */
    private static final class Standing {
        private long distrustedUntilMs = Long.MIN_VALUE;
        private long backOffMs = Bounds.DISTRUST_MS_MIN;
        private long rampSinceMs = Long.MIN_VALUE;
        private long noPlaceUntilMs = Long.MIN_VALUE;
    }

    private final Counters counters;
    private final Map<String, Standing> standings = new TreeMap<>();

    public Standings(Counters counters) {
        this.counters = counters;
    }

    /** A writer, or another node, could not reach the node or lost it in the middle. */
    public void transferFailed(NodeView node, long nowMs) {
        Standing standing = standing(node);
        if (nowMs < standing.distrustedUntilMs) {
            return;
        }
        boolean again = nowMs < standing.distrustedUntilMs + Bounds.DISTRUST_MS_MAX;
        standing.backOffMs = again ? Math.min(2 * standing.backOffMs, Bounds.DISTRUST_MS_MAX) : Bounds.DISTRUST_MS_MIN;
        standing.distrustedUntilMs = nowMs + standing.backOffMs;
        counters.add(Count.NODES_DISTRUSTED);
    }

    /**
     * The node refused a write because its free bytes do not lie in one place. Asking it again for as much is in vain until
     * something of that size was freed, or its statistics say better, which they do in less than this time.
     *
     * @param tenant whose writer says so
     * @return whether that counts for all
     */
    public boolean hadNoPlace(NodeView node, Tenant tenant, long extentBytes, long nowMs) {
        boolean believed = node.refused(tenant, extentBytes);
        if (believed) {
            standing(node).noPlaceUntilMs = nowMs + Bounds.NO_PLACE_MS;
        }
        return believed;
    }

    public boolean isDistrusted(NodeView node, long nowMs) {
        return nowMs < standing(node).distrustedUntilMs;
    }

    /** A node has become usable beside others. */
    public void joined(NodeView node, Collection<NodeView> usable, long nowMs) {
        double others = 0;
        int count = 0;
        for (NodeView other : usable) {
            if (other != node && !other.isTransient()) {
                others += fill(other);
                count++;
            }
        }
        boolean emptier = count > 0
                && others / count >= Bounds.RAMP_FILL_MIN
                && fill(node) < Bounds.RAMP_FRACTION * others / count;
        standing(node).rampSinceMs = emptier ? nowMs : Long.MIN_VALUE;
    }

    private static double fill(NodeView node) {
        return node.capacityBytes() == 0 ? 0 : (double) node.usedBytes() / node.capacityBytes();
    }

    /** The part of new objects, 0 to 1, that a node is considered for. */
    public double willingness(NodeView node, long nowMs) {
        Standing standing = standing(node);
        if (nowMs < standing.distrustedUntilMs) {
            return 0;
        }
        if (standing.rampSinceMs == Long.MIN_VALUE) {
            return 1;
        }
        double way = (double) (nowMs - standing.rampSinceMs) / Bounds.RAMP_MS;
        return Math.clamp(Bounds.RAMP_START + (1 - Bounds.RAMP_START) * way, 0, 1);
    }

    /** Sets what placement looks at. */
    public void tick(Collection<NodeView> nodes, long nowMs) {
        for (NodeView node : nodes) {
            node.considered(willingness(node, nowMs));
            if (nowMs >= standing(node).noPlaceUntilMs) {
                node.mayHavePlace();
            }
        }
    }

    public void forget() {
        standings.clear();
    }

    private Standing standing(NodeView node) {
        return standings.computeIfAbsent(node.id, id -> new Standing());
    }
}
