// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.Tombstones.Grave;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.dataplane.wire.message.NodeCommand.Free;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Keeps the {@link Enrolments} while this master serves: writes down transient nodes that come, strikes off those that have
 * gone for good, and has a node that comes back after that drop all it holds, since nobody told it what was removed.
 */
final class Enrolling {
    private static final long NOT_SERVING = Long.MIN_VALUE;

    private final CurrentRules rules;
    private final Leadership leadership;
    private final Membership membership;
    private final Index index;
    private final Settlement settlement;
    private final Tombstones tombstones;
    private final Enrolments enrolments;
    private final Burials burials;
    private final Commands commands;

    /** Ids of nodes that were told to drop something and have not answered. */
    private final Set<String> emptying = new HashSet<>();

    /** Until when nothing more is written about a node, by id, since there was no room for it. */
    private final Map<String, Long> restsUntilMs = new HashMap<>();

    private long servesSinceMs = NOT_SERVING;

    Enrolling(
            CurrentRules rules,
            Leadership leadership,
            View view,
            Orders orders,
            Settlement settlement,
            Burials burials) {
        this.rules = rules;
        this.leadership = leadership;
        this.membership = view.membership();
        this.index = view.index();
        this.settlement = settlement;
        this.tombstones = view.tombstones();
        this.enrolments = orders.enrolments();
        this.burials = burials;
        this.commands = orders.commands();
    }

    void endTerm() {
        emptying.clear();
        restsUntilMs.clear();
        servesSinceMs = NOT_SERVING;
    }

    void tick(Authority authority, long nowMs) {
        if (servesSinceMs == NOT_SERVING) {
            servesSinceMs = nowMs;
        }
        for (Grave grave : List.copyOf(tombstones.enrolments())) {
            lookAfter(grave, authority, nowMs);
        }
        for (NodeView node : membership.all()) {
            if (node.isTransient && enrolments.areNeeded()) {
                lookAfter(node, authority, nowMs);
            }
        }
    }

    private void lookAfter(Grave grave, Authority authority, long nowMs) {
        NodeView node = membership.node(EnrolmentKey.nodeId(grave.key));
        boolean late = nowMs - servesSinceMs >= Bounds.TRANSIENT_AWAY_MS;
        boolean forgotten = node == null && (late || membership.hasEnded(EnrolmentKey.nodeId(grave.key)));
        if (forgotten || grave.struckOff) {
            // Until the last expected node has confirmed, its removals stay written down.
            grave.struckOff = true;
            burials.lift(grave, authority, nowMs);
        } else if (enrolments.isValid(grave)) {
            burials.buryAgain(grave, nowMs);
        }
    }

    private void lookAfter(NodeView node, Authority authority, long nowMs) {
        if (node.usable) {
            enrol(node, nowMs);
        } else if (isStranger(node) && nowMs >= leasedUntilMs(node)) {
            empty(node, authority, nowMs);
        }
    }

    private void enrol(NodeView node, long nowMs) {
        Grave grave = enrolments.of(node);
        boolean written = grave != null && !grave.struckOff;
        boolean later = nowMs < restsUntilMs.getOrDefault(node.id, Long.MIN_VALUE);
        if (!written && !later && !burials.isBurying(EnrolmentKey.of(node.id)) && membership.isMajorityInView()) {
            restsUntilMs.put(node.id, nowMs + Bounds.BURY_PAUSE_MS);
            burials.bury(EnrolmentKey.of(node.id), leadership.nextObjectId(), outcome -> {});
        }
    }

    /** It obeys us and its directory is here, but nobody has written it down any more. */
    private boolean isStranger(NodeView node) {
        Grave grave = enrolments.of(node);
        boolean struckOff = grave == null ? membership.isAllInView() : grave.struckOff;
        return struckOff && node.synced && node.fencedBy.equals(leadership.authority());
    }

    /** Until when readers may rely on what a leader that had the node in view has told them. */
    private long leasedUntilMs(NodeView node) {
        long leaseMs = Math.max(rules.objectLeaseMs(), node.objectLeaseMaxMs);
        return Math.max(settlement.recoveredUntilMs(), node.connectedMs + leaseMs);
    }

    private void empty(NodeView node, Authority authority, long nowMs) {
        if (node.replicaCount() == 0 || !emptying.add(node.id)) {
            return;
        }
        List<Extent> extents = new ArrayList<>();
        for (Replica replica : index.replicasOn(node)) {
            if (extents.size() < Bounds.FREE_EXTENTS_MAX) {
                extents.add(new Extent(replica.extent(), replica.object().id()));
            }
        }
        commands.send(
                node,
                requestId -> new Free(requestId, authority, extents),
                nowMs + Bounds.COMMAND_WAIT_MS,
                status -> emptying.remove(node.id));
    }
}
