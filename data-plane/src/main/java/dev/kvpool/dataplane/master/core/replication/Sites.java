// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.replication;

import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.index.IndexRoom;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.Standings;
import dev.kvpool.dataplane.master.core.plan.CopyPlan.Site;
import java.util.LinkedHashMap;
import java.util.Map;

/** The nodes as {@link CopyPlan} sees them at one moment. */
final class Sites {
    private final CurrentRules rules;
    private final IndexRoom indexRoom;
    private final Membership membership;
    private final Copies copies;
    private final Standings standings;

    Sites(CurrentRules rules, IndexRoom indexRoom, Membership membership, Copies copies, Standings standings) {
        this.rules = rules;
        this.indexRoom = indexRoom;
        this.membership = membership;
        this.copies = copies;
        this.standings = standings;
    }

    /** Every node known, by id. */
    Map<String, Site> at(long nowMs) {
        Map<String, Site> sites = new LinkedHashMap<>();
        for (NodeView node : membership.all()) {
            sites.put(node.id, at(node, nowMs));
        }
        return sites;
    }

    Site at(NodeView node, long nowMs) {
        boolean returning =
                !node.usable() && (node.isConnected() || nowMs - node.awaySinceMs() < rules.repairDelayMs());
        // A transient node's memory goes with its process: it is never where a copy is kept.
        boolean takes = node.usable() && !node.leaving() && !node.isTransient() && !standings.isDistrusted(node, nowMs);
        return new Site(
                node.id,
                node.zone(),
                node.usable() && !node.isTransient(),
                node.usable() && node.isTransient(),
                node.leaving(),
                returning,
                takes,
                room(node),
                node.usable() ? copies.budget(node) : 0);
    }

    private long room(NodeView node) {
        return indexRoom.takesCopies() ? node.room.forCopies(rules.eviction()) : 0;
    }
}
