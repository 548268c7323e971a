// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.membership;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Clients;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * How gladly new objects are put on a node. After a failed transfer it is not chosen for a while, longer each time, as long
 * as there are others; it comes back by itself when it is connected and fenced. A node that has come much emptier than the
 * others is filled slowly, or every new and soon hot object would lie on one node.
 */
public final class Standings {
    private static final class Distrust {
        private long untilMs = Long.MIN_VALUE;
        private long backOffMs = Bounds.DISTRUST_MS_MIN;

        private boolean holds(long nowMs) {
            return nowMs < untilMs;
        }

        /** Whether a failure at this moment is soon after it. */
        private boolean isRemembered(long nowMs) {
            return nowMs < untilMs + Bounds.DISTRUST_MS_MAX;
        }

        private void begin(long nowMs) {
            backOffMs = isRemembered(nowMs) ? Math.min(2 * backOffMs, Bounds.DISTRUST_MS_MAX) : Bounds.DISTRUST_MS_MIN;
            untilMs = nowMs + backOffMs;
        }
    }

    /** What is held against a node, and for how long. */
    private static final class Standing {
        private final Distrust byAll = new Distrust();
        private final Map<Tenant, Distrust> byTenants = new HashMap<>();
        private long rampSinceMs = Long.MIN_VALUE;
        private long noPlaceUntilMs = Long.MIN_VALUE;

        private Set<Tenant> distrustingTenants(long nowMs) {
            return byTenants.isEmpty()
                    ? Set.of()
                    : byTenants.entrySet().stream()
                            .filter(each -> each.getValue().holds(nowMs))
                            .map(Map.Entry::getKey)
                            .collect(Collectors.toSet());
        }
    }

    private final Clients clients;
    private final Counters counters;
    private final Map<String, Standing> standings = new TreeMap<>();

    public Standings(Clients clients, Counters counters) {
        this.clients = clients;
        this.counters = counters;
    }

    /** Another node could not reach the node or lost it in the middle. */
    public void transferFailed(NodeView node, long nowMs) {
        begin(standing(node).byAll, nowMs);
    }

    /** A writer of this tenant says so: that counts for its own tenant, and for all where there are no others or those of another say so too. */
    public void writeFailed(NodeView node, Tenant tenant, long nowMs) {
        Standing standing = standing(node);
        boolean othersSaySo = standing.byTenants.entrySet().stream()
                .anyMatch(
                        each -> !each.getKey().equals(tenant) && each.getValue().holds(nowMs));
        boolean isConfirmed = othersSaySo || !clients.areAnyOfTenants();
        begin(isConfirmed ? standing.byAll : standing.byTenants.computeIfAbsent(tenant, _ -> new Distrust()), nowMs);
    }

    /** What fails while it is distrusted was begun before. */
    private void begin(Distrust distrust, long nowMs) {
        if (!distrust.holds(nowMs)) {
            distrust.begin(nowMs);
            counters.add(Count.NODES_DISTRUSTED);
        }
    }

    /**
     * The node refused a write because its free bytes do not lie in one place. Asking it again for as much is in vain until
     * something of that size was freed, or its statistics say better, which they do in less than this time.
     *
     * @param tenant whose writer says so
     * @return whether that counts for all
     */
    public boolean hadNoPlace(NodeView node, Tenant tenant, long extentBytes, long nowMs) {
        boolean believed = node.room.refused(tenant, extentBytes);
        if (believed) {
            standing(node).noPlaceUntilMs = nowMs + Bounds.NO_PLACE_MS;
        }
        return believed;
    }

    public boolean isDistrusted(NodeView node, long nowMs) {
        return standing(node).byAll.holds(nowMs);
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
        return node.room.capacityBytes() == 0 ? 0 : (double) node.room.usedBytes() / node.room.capacityBytes();
    }

    /** The part of new objects, 0 to 1, that a node is considered for. */
    public double willingness(NodeView node, long nowMs) {
        Standing standing = standing(node);
        if (standing.byAll.holds(nowMs)) {
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
            Standing standing = standing(node);
            standing.byTenants.values().removeIf(distrust -> !distrust.isRemembered(nowMs));
            node.considered(willingness(node, nowMs), standing.distrustingTenants(nowMs));
            if (nowMs >= standing.noPlaceUntilMs) {
                node.room.mayHavePlace();
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
