// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** One connection between a peer and a master: messages keep their order, and none arrives after the end. */
final class Link {
    private final World world;
    private final ModelMaster master;
    private final long session;
    private final Consumer<Message> toPeer;
    private final Runnable onEnd;
    private long masterHearsMs;
    private long peerHearsMs;
    private boolean open = true;

    /** What the peer has said and the master does not hear yet; null when it hears all. */
    private List<Message> held;

    /** @param onEnd tells the peer that the connection ended */
    Link(World world, ModelMaster master, long session, Consumer<Message> toPeer, Runnable onEnd) {
        this.world = world;
        this.master = master;
        this.session = session;
        this.toPeer = toPeer;
        this.onEnd = onEnd;
    }

    boolean isOpen() {
        return open;
    }

    ModelMaster master() {
        return master;
    }

    /** Keeps what the peer says on the way until it is let go again. */
    void hold(boolean on) {
        if (on) {
            held = new ArrayList<>();
        } else if (held != null) {
            List<Message> late = held;
            held = null;
            late.forEach(this::toMaster);
        }
    }

    void toMaster(Message message) {
        if (held != null) {
            held.add(message);
            return;
        }
        masterHearsMs = Math.max(masterHearsMs, world.nowMs() + world.delayMs());
        world.at(masterHearsMs, () -> {
            if (open) {
                master.receive(session, message);
            }
        });
    }

    void toPeer(Message message) {
        peerHearsMs = Math.max(peerHearsMs, world.nowMs() + world.delayMs());
        world.at(peerHearsMs, () -> {
            if (open) {
                toPeer.accept(message);
            }
        });
    }

    /** Ends the connection for both sides at once; what was under way is lost. */
    void end(String reason) {
        if (open) {
            open = false;
            master.linkEnded(session, reason);
            world.in(0, onEnd);
        }
    }
}
