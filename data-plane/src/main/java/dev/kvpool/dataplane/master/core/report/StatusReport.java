// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.report;

import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.DrainStatus;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.command.Grants;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.IndexRoom;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.Tombstones;
import dev.kvpool.dataplane.master.core.liveness.Assurance;
import dev.kvpool.dataplane.master.core.liveness.Reach;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.report.PoolStatus.Committed;
import dev.kvpool.dataplane.master.core.report.PoolStatus.Contents;
import dev.kvpool.dataplane.master.core.report.PoolStatus.Kept;
import dev.kvpool.dataplane.master.core.report.PoolStatus.Node;
import dev.kvpool.dataplane.master.core.report.PoolStatus.NodeState;
import dev.kvpool.dataplane.master.core.report.PoolStatus.Ssd;
import dev.kvpool.dataplane.master.core.report.PoolStatus.State;
import dev.kvpool.dataplane.master.core.room.SsdView;
import dev.kvpool.dataplane.master.core.takeover.Takeover;
import dev.kvpool.dataplane.master.core.tenant.TenantReads;
import dev.kvpool.dataplane.master.core.upkeep.Upkeep;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Draws up a {@link PoolStatus}. */
public final class StatusReport {
    private final CurrentRules rules;
    private final Leadership leadership;
    private final Assurance assurance;
    private final Reach reach;
    private final Membership membership;
    private final Orders orders;
    private final Index index;
    private final IndexRoom room;
    private final Tombstones tombstones;
    private final Grants grants;
    private final Takeover takeover;
    private final Upkeep upkeep;
    private final TenantReads tenantReads;
    private final Counters counters;

    public StatusReport(
            CurrentRules rules,
            Leadership leadership,
            Assurance assurance,
            Reach reach,
            View view,
            Orders orders,
            Grants grants,
            Takeover takeover,
            Upkeep upkeep,
            TenantReads tenantReads,
            Counters counters) {
        this.rules = rules;
        this.leadership = leadership;
        this.assurance = assurance;
        this.reach = reach;
        this.membership = view.membership();
        this.orders = orders;
        this.index = view.index();
        this.room = view.room();
        this.tombstones = view.tombstones();
        this.grants = grants;
        this.takeover = takeover;
        this.upkeep = upkeep;
        this.tenantReads = tenantReads;
        this.counters = counters;
    }

    public PoolStatus now(int clients, long nowMs) {
        List<Node> nodes = new ArrayList<>();
        int ready = 0;
        long capacity = 0;
        long shared = 0;
        long used = 0;
        long highestEpoch = Math.max(
                leadership.authority().epoch(), takeover.fencing().claims().epochToldByMajority());
        boolean leads = leadership.leads();
        for (NodeView node : membership.all()) {
            nodes.add(describe(node));
            if (isReady(node)) {
                ready += membership.expected().contains(node.id) ? 1 : 0;
                capacity += node.room.capacityBytes();
                shared += node.isTransient() ? 0 : node.room.capacityBytes();
                used += node.room.usedBytes();
            }
        }
        for (String id : membership.expected()) {
            if (membership.node(id) == null) {
                nodes.add(notThere(id, "has never connected to this master"));
            }
        }
        for (String id : membership.setApart().ids()) {
            if (membership.node(id) == null && !membership.expected().contains(id)) {
                nodes.add(notThere(id, ""));
            }
        }
        return new PoolStatus(
                state(),
                leadership.authority().epoch(),
                assurance.servingUntilMs(nowMs),
                notReady(),
                highestEpoch,
                membership.expected().size(),
                membership.connectedExpected(),
                reach.isEnoughToLead(),
                ready,
                capacity,
                shared,
                used,
                leads ? index.publishedCount() : index.size(),
                leads ? index.unavailableCount() : 0,
                tombstones.size(),
                leads ? index.shortOfCopies() : 0,
                leads ? index.overReplicated() : 0,
                index.softPinned(),
                upkeep.promotions().underWay(),
                upkeep.copies().countUnderWay(),
                upkeep.copies().bytesUnderWay(),
                clients,
                grants.size(),
                takeover.lastDurationMs(),
                takeover.recoveredUntilMs(),
                upkeep.activation().ofPool(),
                new PoolStatus.IndexUse(room.usedBytes(), room.maxBytes(), room.problem()),
                List.copyOf(nodes),
                upkeep.drains().status(),
                new Kept(orders.register().stored(), leads && orders.absences().awaitsWitness()),
                TenantStatus.of(index.tenants().now(), tenantReads.now()),
                QuotaStatus.of(
                        rules.quotas(), index.accounts(), upkeep.quotaOutcomes().now()),
                counters.copy());
    }

    private State state() {
        return switch (leadership.phase()) {
            case STARTING -> State.STARTING;
            case STANDBY -> State.STANDBY;
            case RECOVERING -> State.RECOVERING;
            case SERVING -> State.SERVING;
        };
    }

    /** A master is ready, leader or standby, when it has caught up with every expected node that is connected. */
    private String notReady() {
        if (leadership.phase() == Leadership.Phase.STARTING) {
            return "the leadership Lease has not been read yet";
        }
        if (leadership.phase() == Leadership.Phase.RECOVERING) {
            return "taking over with " + leadership.authority();
        }
        for (String id : membership.expected()) {
            NodeView node = membership.node(id);
            if (node != null && node.isConnected() && !isReady(node)) {
                return "catching up with node " + id;
            }
        }
        return takeover.firstNode().isAwaited()
                ? "none of the " + membership.expected().size() + " expected nodes has connected yet"
                : "";
    }

    private boolean isReady(NodeView node) {
        return leadership.leads() ? node.usable() : node.synced();
    }

    private Node describe(NodeView node) {
        NodeState state = isReady(node) ? NodeState.READY : node.isConnected() ? NodeState.SYNCING : NodeState.AWAY;
        String reason = switch (state) {
            case READY, DRAINING, DRAINED -> "";
            case SYNCING -> syncing(node);
            case AWAY, REFUSED, SET_APART -> node.awayReason();
        };
        String refusal = membership.refusal(node.id);
        Optional<String> apart = membership.setApart().reason(node.id);
        if (state == NodeState.AWAY && apart.isPresent()) {
            state = NodeState.SET_APART;
            reason = apart.get();
        } else if (state == NodeState.AWAY && refusal != null) {
            state = NodeState.REFUSED;
            reason = refusal;
        }
        if (state == NodeState.READY && node.leaving()) {
            state = drainState(node);
        }
        return new Node(
                node.id,
                state,
                reason,
                node.isTransient(),
                node.room.capacityBytes(),
                node.room.usedBytes(),
                node.replicaCount(),
                node.peer().incarnation(),
                node.peer().product(),
                protocols(node),
                node.info() == null ? "" : node.info().tcp(),
                node.info() == null ? "" : node.info().shm(),
                node.active(),
                ssd(node.ssd),
                contents(node));
    }

    private static Optional<Contents> contents(NodeView node) {
        if (node.info() == null) {
            return Optional.empty();
        }
        Optional<Committed> committed =
                Optional.ofNullable(node.stats()).map(stats -> new Committed(stats.objects(), stats.idsHash()));
        return Optional.of(new Contents(committed, node.info().restored(), node.lostAtReturn()));
    }

    private String syncing(NodeView node) {
        if (!node.synced()) {
            return "is sending its directory";
        }
        if (!node.fencedBy().equals(leadership.authority())) {
            return "has not obeyed this leader yet";
        }
        return orders.members().isBeingTakenUp(node)
                ? "takes part when the leadership Lease has the number of its memory"
                : "was away for too long, or another memory came under its name, and drops what it holds";
    }

    private NodeState drainState(NodeView node) {
        return upkeep.drains()
                .stateOf(node)
                .filter(state -> state != DrainStatus.State.DRAINING)
                .map(state -> NodeState.DRAINED)
                .orElse(NodeState.DRAINING);
    }

    private Node notThere(String id, String otherwise) {
        String refusal = membership.refusal(id);
        Optional<String> apart = membership.setApart().reason(id);
        NodeState state =
                apart.isPresent() ? NodeState.SET_APART : refusal == null ? NodeState.AWAY : NodeState.REFUSED;
        String reason = apart.orElse(refusal == null ? otherwise : refusal);
        return new Node(
                id,
                state,
                reason,
                false,
                0,
                0,
                0,
                0,
                "",
                List.of(),
                "",
                "",
                ActiveVersions.UNKNOWN,
                Ssd.NONE,
                Optional.empty());
    }

    private static Ssd ssd(SsdView ssd) {
        return new Ssd(ssd.capacityBytes(), ssd.usedBytes(), ssd.objects(), ssd.demotions(), ssd.problem());
    }

    private static List<String> protocols(NodeView node) {
        List<String> protocols = new ArrayList<>();
        if (node.info() != null && !node.info().tcp().isEmpty()) {
            protocols.add("tcp");
        }
        if (node.info() != null && !node.info().shm().isEmpty()) {
            protocols.add("shm");
        }
        return List.copyOf(protocols);
    }
}
