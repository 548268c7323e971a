// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.NodeMessage.CommandAck;

/** What a leader does of itself while it serves, beside answering: it keeps removals true. */
final class Upkeep {
    private final Leadership leadership;
    private final Tombstones tombstones;
    private final Commands commands;
    private final Burials burials;
    private final Purges purges;

    Upkeep(Leadership leadership, Tombstones tombstones, Commands commands, Burials burials, Purges purges) {
        this.leadership = leadership;
        this.tombstones = tombstones;
        this.commands = commands;
        this.burials = burials;
        this.purges = purges;
    }

    Purges purges() {
        return purges;
    }

    void answered(NodeView node, CommandAck ack) {
        commands.answered(node, ack);
    }

    /** The node cannot be told anything any more: its connection or our term ended. */
    void abandon(NodeView node) {
        burials.abandon(node);
        commands.abandon(node);
    }

    void endTerm() {
        purges.endTerm();
        tombstones.forgetRequests();
    }

    void tick(long nowMs) {
        commands.tick(nowMs);
        if (leadership.serves(nowMs)) {
            purges.tick(leadership.authority(), nowMs);
            burials.tick(leadership.authority(), nowMs);
        }
    }

    /** Sends what the last input has led to. */
    void send(long nowMs) {
        if (leadership.phase() == Leadership.Phase.SERVING) {
            burials.send(leadership.authority(), nowMs);
        }
    }
}
