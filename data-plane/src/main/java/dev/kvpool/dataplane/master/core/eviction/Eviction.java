// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.room.Need;
import dev.kvpool.dataplane.master.core.room.Shortage;
import dev.kvpool.dataplane.wire.message.Retention;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What has to be evicted at one moment. A node above the mark where eviction begins, in bytes or in directory slots, is brought
 * down to the one where it ends; what is already on its way out counts as gone. A leased or hard-pinned object never goes, a softly pinned one
 * only in a second round and a retained one only in a last, and an object goes with all its replicas.
 */
final class Eviction {
    /**
     * What may go: first everything without a pin, then, if the pool allows it, what is softly pinned, and at last, before puts
     * fail, what clients want retained.
     */
    enum Round {
        UNPINNED,
        SOFTLY_PINNED,
        RETAINED
    }

    private final EvictionRules rules;
    private final RetainedObjects retained;
    private final Map<NodeView, Need> needs = new HashMap<>();
    private int open;

    /** Replicas that have to go to make room for records in the index, wherever they lie. */
    private long replicasToLose;

    Eviction(Collection<NodeView> nodes, EvictionRules rules, RetainedObjects retained, long replicasToLose) {
        this.rules = rules;
        this.retained = retained;
        this.replicasToLose = replicasToLose;
        for (NodeView node : nodes) {
            Need need = node.usable() ? need(node) : null;
            if (need != null && need.isOpen()) {
                needs.put(node, need);
                open++;
            }
        }
    }

    /** Only the rules: no node has to lose anything. */
    static Eviction ofNothing(EvictionRules rules, RetainedObjects retained) {
        return new Eviction(List.of(), rules, retained, 0);
    }

    /** Whether any node, or the index, has to lose something still. */
    boolean isNeeded() {
        return open > 0 || isForIndex();
    }

    /** Whether records have to go: then an object that moves to an SSD is no help. */
    boolean isForIndex() {
        return replicasToLose > 0;
    }

    /** Bytes that nodes have to lose still, all of them together. */
    long bytesToLose() {
        long bytes = 0;
        for (Need need : needs.values()) {
            bytes += need.bytes();
        }
        return bytes;
    }

    boolean isNeededOn(NodeView node) {
        if (isForIndex()) {
            return node.usable();
        }
        Need need = needs.get(node);
        return need != null && need.isOpen();
    }

    /** Whether a node that has to lose something holds this object. */
    boolean helps(StoredObject object) {
        for (Replica replica : object.replicas()) {
            if ((replica.isInMemory() || isForIndex()) && isNeededOn(replica.node())) {
                return true;
            }
        }
        return false;
    }

    boolean mayTake(StoredObject object, Round round, long nowMs) {
        if (object.isLeased(nowMs) || isKept(object, round, nowMs)) {
            return false;
        }
        Retention retention = object.retention();
        boolean softlyPinnedToo = round != Round.UNPINNED && rules.evictSoftPinned();
        return !retention.hard() && (softlyPinnedToo || !SoftPins.holds(object, rules, nowMs));
    }

    private boolean isKept(StoredObject object, Round round, long nowMs) {
        return round != Round.RETAINED && retained.holds(object, nowMs);
    }

    /**
     * When an object that may not be taken now may be taken, as far as is known; {@link Shortage#NO_ROOM_EVER} for a hard pin, and for
     * what is retained, which is not counted on as long as anything else can go.
     */
    long mayTakeFromMs(StoredObject object, Round round, long nowMs) {
        if (isKept(object, round, nowMs)) {
            return Shortage.NO_ROOM_EVER;
        }
        Retention retention = object.retention();
        if (retention.hard() || (retention.soft() && !rules.evictSoftPinned())) {
            return retention.hard()
                    ? Shortage.NO_ROOM_EVER
                    : object.leaseUntilMs() + SoftPins.lengthMs(retention, rules);
        }
        return object.leaseUntilMs();
    }

    /** Counts the extents of a victim as gone. */
    void book(StoredObject victim) {
        replicasToLose -= victim.replicaCount();
        for (Replica replica : victim.replicas()) {
            if (replica.isInMemory()) {
                book(replica);
            }
        }
    }

    /** Counts an extent in memory as gone, which it is or will be soon. */
    void book(Replica replica) {
        NodeView node = replica.node();
        node.room.shortage.gone(replica.extentBytes());
        Need need = needs.get(node);
        if (need != null && need.isOpen()) {
            need.take(replica.extentBytes());
            open -= need.isOpen() ? 0 : 1;
        }
    }

    /** Nothing more is taken from a node in this turn: its SSD has to take what is on its way first. */
    void waitFor(NodeView node) {
        Need need = needs.get(node);
        if (need != null && need.isOpen()) {
            need.close();
            open--;
        }
    }

    /** Whether a node is so full that it cannot wait for its SSD. */
    boolean isUrgentOn(NodeView node) {
        return node.room.isUrgent(node.ssd.leavingBytes());
    }

    private static Need need(NodeView node) {
        return node.room.need(node.ssd.leavingBytes(), node.ssd.demotions());
    }
}
