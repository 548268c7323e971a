// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.upkeep;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.command.Commands;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.register.RegisterKeeper;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.NodeCommand.Activate;
import dev.kvpool.nativelib.Status;
import java.util.Map;
import java.util.TreeMap;

/**
 * The versions the pool speaks and writes. They are in the register before any node hears of them: so a raise that began under one
 * leader is finished by the next, and a node that comes with an empty segment is brought to where the others are.
 */
public final class Activation {
    private final RegisterKeeper register;
    private final Membership membership;
    private final Commands commands;
    private final Outbox outbox;

    /** What each node was told last on this connection and has not done. */
    private final Map<String, ActiveVersions> told = new TreeMap<>();

    private long nowMs;

    Activation(RegisterKeeper register, Membership membership, Commands commands, Outbox outbox) {
        this.register = register;
        this.membership = membership;
        this.commands = commands;
        this.outbox = outbox;
    }

    /** Those of the register; until it has any, the highest that an expected node keeps. */
    public ActiveVersions ofPool() {
        ActiveVersions known = register.wanted().active();
        if (!known.equals(ActiveVersions.UNKNOWN)) {
            return known;
        }
        for (String id : membership.expected()) {
            NodeView node = membership.node(id);
            known = node == null ? known : known.or(node.active());
        }
        return known;
    }

    /** From now on nodes are told to raise theirs to these, one after another as they answer, as soon as the register has them. */
    public void raise(ActiveVersions versions) {
        register.change(it -> it.raised(ofPool().or(versions)));
    }

    /** Tells nodes in view that keep lower numbers. */
    void tick(Authority authority, long now) {
        nowMs = now;
        ActiveVersions goal = register.stored().active();
        for (NodeView node : membership.usable()) {
            if (goal.exceeds(node.active()) && !goal.equals(told.get(node.id))) {
                told.put(node.id, goal);
                tell(node, authority, goal, goal);
            }
        }
    }

    private void tell(NodeView node, Authority authority, ActiveVersions goal, ActiveVersions versions) {
        commands.send(
                node,
                requestId -> new Activate(requestId, authority, versions),
                nowMs + Bounds.COMMAND_WAIT_MS,
                status -> answered(node, authority, goal, versions, status));
    }

    private void answered(
            NodeView node, Authority authority, ActiveVersions goal, ActiveVersions versions, Status status) {
        ActiveVersions wireAlone = new ActiveVersions(goal.wire(), node.active().layout());
        if (status == Status.OK) {
            node.raised(versions);
            if (versions.equals(goal)) {
                told.remove(node.id, goal);
            }
        } else if (status == Status.VERSION_MISMATCH) {
            // Its build does not know them, and will not learn: said once a connection, as it is not told again.
            outbox.report("node %s (kvpool %s) cannot be raised to %s: its build does not know it; upgrade it"
                    .formatted(node.id, node.peer().product(), versions));
            if (versions.layout() > wireAlone.layout() && wireAlone.exceeds(node.active())) {
                // A layout that no build knows, as a node that lies may have said of a register that was set back,
                // holds up no wire version.
                tell(node, authority, goal, wireAlone);
            }
        } else {
            told.remove(node.id, goal);
        }
    }

    /** The node cannot answer any more: its connection or our term ended. */
    void abandon(NodeView node) {
        told.remove(node.id);
    }

    void endTerm() {
        told.clear();
    }
}
