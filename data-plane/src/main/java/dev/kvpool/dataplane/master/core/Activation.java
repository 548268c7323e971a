// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.NodeCommand.Activate;
import dev.kvpool.nativelib.Status;
import java.util.Map;
import java.util.TreeMap;

/**
 * The versions the pool speaks and writes. What one expected node keeps is the pool's: so a raise that began under one leader
 * is finished by the next, and a node that comes with an empty segment is brought to where the others are.
 */
final class Activation {
    private final Membership membership;
    private final Commands commands;
    private final Outbox outbox;

    /** What each node was told last on this connection and has not done. */
    private final Map<String, ActiveVersions> told = new TreeMap<>();

    /** What this leader was asked for; nodes that have done it remember it longer. */
    private ActiveVersions wanted = ActiveVersions.UNKNOWN;

    Activation(Membership membership, Commands commands, Outbox outbox) {
        this.membership = membership;
        this.commands = commands;
        this.outbox = outbox;
    }

    /** The highest that an expected node keeps, also one that is away now. */
    ActiveVersions ofPool() {
        ActiveVersions highest = ActiveVersions.UNKNOWN;
        for (String id : membership.expected()) {
            NodeView node = membership.node(id);
            highest = node == null ? highest : highest.or(node.active);
        }
        return highest;
    }

    /** From now on nodes are told to go over to these, one after another as they answer. */
    void raise(ActiveVersions versions) {
        wanted = wanted.or(versions);
    }

    /** Tells nodes in view that keep lower numbers. */
    void tick(Authority authority, long nowMs) {
        ActiveVersions goal = wanted.or(ofPool());
        for (NodeView node : membership.usable()) {
            if (goal.exceeds(node.active) && !goal.equals(told.get(node.id))) {
                told.put(node.id, goal);
                commands.send(
                        node,
                        requestId -> new Activate(requestId, authority, goal),
                        nowMs + Bounds.COMMAND_WAIT_MS,
                        status -> answered(node, goal, status));
            }
        }
    }

    private void answered(NodeView node, ActiveVersions goal, Status status) {
        if (status == Status.OK) {
            node.active = node.active.or(goal);
            told.remove(node.id, goal);
        } else if (status == Status.VERSION_MISMATCH) {
            // Its build does not know them, and will not learn: said once a connection, as it is not told again.
            outbox.report("node %s (kvpool %s) cannot go over to %s: its build does not know it; upgrade it"
                    .formatted(node.id, node.peer.product(), goal));
        } else {
            told.remove(node.id, goal);
        }
    }

    /** The node cannot answer any more: its connection or our term ended. */
    void abandon(NodeView node) {
        told.remove(node.id);
    }

    void endTerm() {
        wanted = ActiveVersions.UNKNOWN;
        told.clear();
    }
}
