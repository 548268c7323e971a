// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.removal;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.command.Commands;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.reconciliation.Reconciliation;
import dev.kvpool.dataplane.master.core.register.Members;
import dev.kvpool.dataplane.master.core.register.RegisterKeeper;
import dev.kvpool.dataplane.register.Member;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.dataplane.wire.message.NodeCommand.Free;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Keeps the {@link Members} while this master serves: takes nodes up into the register that come, drops those that have gone for good,
 * and has a node that comes back after that drop all it holds, since nobody told it what was removed.
 */
public final class Enrolling {
    private static final long NOT_SERVING = Long.MIN_VALUE;

    private final CurrentRules rules;
    private final Leadership leadership;
    private final Membership membership;
    private final RegisterKeeper register;
    private final Members members;
    private final Index index;
    private final Reconciliation reconciliation;
    private final Commands commands;

    /** Ids of nodes that were told to drop something and have not answered. */
    private final Set<String> emptying = new HashSet<>();

    private long servesSinceMs = NOT_SERVING;

    public Enrolling(
            CurrentRules rules, Leadership leadership, View view, Orders orders, Reconciliation reconciliation) {
        this.rules = rules;
        this.leadership = leadership;
        this.membership = view.membership();
        this.register = orders.register();
        this.members = orders.members();
        this.index = view.index();
        this.reconciliation = reconciliation;
        this.commands = orders.commands();
    }

    public void endTerm() {
        emptying.clear();
        servesSinceMs = NOT_SERVING;
    }

    public void tick(Authority authority, long nowMs) {
        if (servesSinceMs == NOT_SERVING) {
            servesSinceMs = nowMs;
        }
        if (register.wanted().open() && nowMs - servesSinceMs >= Bounds.REGISTER_OPEN_MS) {
            register.change(it -> it.open(false));
        }
        List<NodeView> lasting = new ArrayList<>();
        List<NodeView> transients = new ArrayList<>();
        for (NodeView node : membership.all()) {
            if (members.isMember(node)) {
                continue;
            }
            if (node.usable()) {
                if (node.isTransient()) {
                    transients.add(node);
                } else {
                    lasting.add(node);
                }
            } else if (isStranger(node) && nowMs >= leasedUntilMs(node)) {
                empty(node, authority, nowMs);
            }
        }
        // Storage nodes first: they come where there is no room for engines; and there is room when others have gone.
        Set<String> gone = gone(nowMs);
        register.change(it -> it.dropped(gone));
        register.enrolStorageNodes(lasting);
        register.enrolEngines(transients);
    }

    /** Members that nobody expects and that have been away for longer than a connection is. */
    private Set<String> gone(long nowMs) {
        Set<String> gone = new TreeSet<>();
        Register now = register.wanted();
        for (String id : now.members().keySet()) {
            Member member = now.members().get(id);
            NodeView node = membership.node(id);
            boolean expected = membership.expected().contains(id) && !member.isTransient();
            if (!expected && (node == null || !node.isConnected())) {
                long awayMs = node == null ? nowMs - servesSinceMs : nowMs - node.awaySinceMs();
                long patienceMs = member.isTransient() ? Bounds.TRANSIENT_AWAY_MS : Bounds.UNEXPECTED_AWAY_MS;
                if (awayMs >= patienceMs || membership.hasEnded(id)) {
                    gone.add(id);
                }
            }
        }
        keepLastWitnesses(now, gone);
        return gone;
    }

    /** Others are behind, and these alone know what they have missed: a person decides that they will not come. */
    private static void keepLastWitnesses(Register now, Set<String> gone) {
        Set<String> witnesses = now.witnesses().keySet();
        Set<String> behind = now.behind();
        behind.removeAll(gone);
        if (gone.containsAll(witnesses) && !behind.isEmpty()) {
            gone.removeAll(witnesses);
        }
    }

    /** It obeys us and its directory is here, but the register does not have it. */
    private boolean isStranger(NodeView node) {
        return node.synced() && !node.joining() && node.fencedBy().equals(leadership.authority());
    }

    /** Until when readers may rely on what a leader that had the node in view has told them. */
    private long leasedUntilMs(NodeView node) {
        long leaseMs = Math.max(rules.objectLeaseMs(), node.objectLeaseMaxMs());
        return Math.max(reconciliation.recoveredUntilMs(), node.connectedMs() + leaseMs);
    }

    private void empty(NodeView node, Authority authority, long nowMs) {
        if (node.replicaCount() == 0 || !emptying.add(node.id)) {
            return;
        }
        boolean keepsSsd = members.isSsdSure(node);
        List<Extent> extents = new ArrayList<>();
        for (Replica replica : index.replicasOn(node)) {
            if (extents.size() < Bounds.FREE_EXTENTS_MAX && (replica.isInMemory() || !keepsSsd)) {
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
