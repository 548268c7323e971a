// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.command;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.register.RegisterKeeper;
import dev.kvpool.dataplane.master.core.register.TenantPurges;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.NodeCommand.Purge;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The pool's purge id, below which every object is gone. It is in the register before any node hears of it, so that every leader knows
 * it; nodes keep it as they keep the epoch, and those away drop what it covers when they are fenced. One number removes a whole pool
 * in the time of one command, however much is in it.
 */
public final class Purges {
    private record Wait(ObjectId purgeId, Consumer<Status> whenDone) {}

    private final RegisterKeeper register;
    private final TenantPurges ofTenants;
    private final Membership membership;
    private final Index index;
    private final Commands commands;
    private final List<Wait> waits = new ArrayList<>();

    /** What each connected node was told last, by node id. */
    private final Map<String, ObjectId> asked = new TreeMap<>();

    /** Engines that have not done it in time, or say that they have not. */
    private final List<NodeView> overdueEngines = new ArrayList<>();

    Purges(RegisterKeeper register, TenantPurges ofTenants, Membership membership, Index index, Commands commands) {
        this.register = register;
        this.ofTenants = ofTenants;
        this.membership = membership;
        this.index = index;
        this.commands = commands;
    }

    /** What is sure to outlive this leader: nodes may be told so. */
    public ObjectId storedId() {
        return register.stored().purgeId();
    }

    public boolean isPurged(StoredObject object) {
        return register.wanted().purgeId().isNewerThan(object.id()) || ofTenants.cover(object);
    }

    /**
     * Purges everything below an id, out of sight at once. Whatever is published must be older.
     *
     * @param whenDone told OK when the register has it and every node in view has dropped it
     */
    public void purge(ObjectId below, Consumer<Status> whenDone) {
        register.change(it -> it.purged(below));
        index.purge(below);
        waits.add(new Wait(below, whenDone));
    }

    /** The node obeyed a fence, which tells it too. */
    public void fenceAnswered(NodeView node, ObjectId nodesPurgeId) {
        node.purged(nodesPurgeId);
    }

    /** Tells nodes in view what they have not been told, forgets a bounded number of objects, answers who waits. */
    public void tick(Authority authority, long nowMs) {
        ObjectId purgeId = storedId();
        for (NodeView node : membership.usable()) {
            boolean isTold = !purgeId.isNewerThan(asked.getOrDefault(node.id, ObjectId.NONE));
            if (!isTold && purgeId.isNewerThan(node.purgeId())) {
                send(node, purgeId, authority, nowMs);
            }
        }
        index.forgetPurged(Bounds.PURGED_PER_TICK);
        answer(purgeId);
    }

    private void send(NodeView node, ObjectId sent, Authority authority, long nowMs) {
        asked.put(node.id, sent);
        commands.send(
                node, requestId -> new Purge(requestId, authority, sent), nowMs + Bounds.COMMAND_WAIT_MS, status -> {
                    boolean ofThisTerm = asked.remove(node.id, sent);
                    if (status == Status.OK && sent.isNewerThan(node.purgeId())) {
                        node.purged(sent);
                    }
                    boolean mayStillDoIt = status == Status.STALE_EPOCH || !node.isConnected();
                    if (ofThisTerm && status != Status.OK && !mayStillDoIt && node.isTransient()) {
                        overdueEngines.add(node);
                    }
                });
    }

    /** Each once: who waits for a removal of everything would wait for them for ever. */
    public List<NodeView> takeOverdueEngines() {
        List<NodeView> taken =
                overdueEngines.stream().filter(NodeView::isConnected).toList();
        overdueEngines.clear();
        return taken;
    }

    private void answer(ObjectId stored) {
        for (Wait wait : List.copyOf(waits)) {
            boolean everywhere = !wait.purgeId.isNewerThan(stored)
                    && membership.usable().stream().noneMatch(node -> wait.purgeId.isNewerThan(node.purgeId()));
            if (everywhere) {
                waits.remove(wait);
                wait.whenDone.accept(Status.OK);
            }
        }
    }

    /** Who waited has been answered; the purge itself goes on under whoever leads. */
    public void endTerm() {
        waits.clear();
        asked.clear();
        overdueEngines.clear();
        ofTenants.endTerm();
    }
}
