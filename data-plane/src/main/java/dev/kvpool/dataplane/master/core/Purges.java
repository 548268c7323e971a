// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

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
 * The pool's purge id, below which every object is gone. Nodes keep it as they keep the epoch: those away drop what it
 * covers when they are fenced. One number removes a whole pool in the time of one command, however much is in it.
 */
final class Purges {
    private record Wait(ObjectId purgeId, Consumer<Status> whenDone) {}

    private final Membership membership;
    private final Index index;
    private final Commands commands;
    private final List<Wait> waits = new ArrayList<>();

    /** What each connected node is known to have done, and was told last, by node id. */
    private final Map<String, ObjectId> done = new TreeMap<>();

    private final Map<String, ObjectId> asked = new TreeMap<>();

    private ObjectId purgeId = ObjectId.NONE;

    Purges(Membership membership, Index index, Commands commands) {
        this.membership = membership;
        this.index = index;
        this.commands = commands;
    }

    ObjectId purgeId() {
        return purgeId;
    }

    boolean isPurged(ObjectId id) {
        return purgeId.isNewerThan(id);
    }

    /**
     * A node introduced itself: what one node has dropped every node must drop, whoever leads.
     *
     * @return whether more is gone than was known
     */
    boolean introduced(NodeView node, ObjectId nodesPurgeId) {
        done.put(node.id, nodesPurgeId);
        asked.remove(node.id);
        return learned(nodesPurgeId);
    }

    /**
     * The node obeyed a fence and says what it has dropped: maybe more than the fence asked for, since a purge under another
     * leader is told to that one alone. An acknowledged purge is at a majority of the nodes, so one of those that a new leader
     * hears tells it, and those that were away do not bring back what was purged.
     *
     * @return whether more is gone than was known
     */
    boolean fenceAnswered(NodeView node, ObjectId nodesPurgeId) {
        done.merge(node.id, nodesPurgeId, Purges::higher);
        return learned(nodesPurgeId);
    }

    private boolean learned(ObjectId nodesPurgeId) {
        boolean more = nodesPurgeId.isNewerThan(purgeId);
        purgeId = higher(purgeId, nodesPurgeId);
        return more;
    }

    /**
     * Purges everything below an id, out of sight at once. Whatever is published must be older.
     *
     * @param whenDone told OK when every node in view, a majority of the expected ones, has dropped it
     */
    void purge(ObjectId below, Consumer<Status> whenDone) {
        purgeId = below;
        index.purge(below);
        waits.add(new Wait(below, whenDone));
    }

    /** Tells nodes in view what they have not been told, forgets a bounded number of objects, answers who waits. */
    void tick(Authority authority, long nowMs) {
        for (NodeView node : membership.usable()) {
            if (purgeId.isNewerThan(known(asked, node)) && purgeId.isNewerThan(known(done, node))) {
                send(node, authority, nowMs);
            }
        }
        index.forgetPurged(Bounds.PURGED_PER_TICK);
        answer();
    }

    private void send(NodeView node, Authority authority, long nowMs) {
        ObjectId sent = purgeId;
        asked.put(node.id, sent);
        commands.send(
                node, requestId -> new Purge(requestId, authority, sent), nowMs + Bounds.COMMAND_WAIT_MS, status -> {
                    asked.remove(node.id, sent);
                    if (status == Status.OK) {
                        done.merge(node.id, sent, Purges::higher);
                    }
                });
    }

    private void answer() {
        for (Wait wait : List.copyOf(waits)) {
            boolean everywhere = membership.isMajorityInView()
                    && membership.usable().stream().noneMatch(node -> wait.purgeId.isNewerThan(known(done, node)));
            if (everywhere) {
                waits.remove(wait);
                wait.whenDone.accept(Status.OK);
            }
        }
    }

    /** Who waited has been answered; the purge itself goes on under whoever leads. */
    void endTerm() {
        waits.clear();
        asked.clear();
    }

    private static ObjectId known(Map<String, ObjectId> ids, NodeView node) {
        return ids.getOrDefault(node.id, ObjectId.NONE);
    }

    private static ObjectId higher(ObjectId one, ObjectId other) {
        return one.isNewerThan(other) ? one : other;
    }
}
