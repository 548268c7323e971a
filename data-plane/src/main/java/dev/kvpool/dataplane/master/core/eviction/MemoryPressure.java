// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.command.Frees;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.replication.Copies;
import dev.kvpool.nativelib.Status;

/**
 * What becomes of an object that has to leave the memory of a node: it goes to the node's SSD where that takes it, and keeps
 * being read from memory until it has arrived. An SSD slower than the puts costs objects, never puts.
 */
public final class MemoryPressure {
    /** What is done about one object; a later one wins when its nodes differ. */
    enum Way {
        /** The SSD has it already: its memory is freed at once. */
        RELEASE,
        /** It is copied to the SSD now, and its memory is freed when that is done. */
        DEMOTE,
        /** It, or as much else as may be, is on its way there. */
        WAIT,
        /** It goes for good. */
        EVICT
    }

    private final Index index;
    private final Frees frees;
    private final Copies copies;
    private final Leadership leadership;
    private final Counters counters;
    private long nowMs;

    public MemoryPressure(Leadership leadership, View view, Orders orders, Copies copies, Counters counters) {
        this.leadership = leadership;
        this.index = view.index();
        this.frees = orders.frees();
        this.copies = copies;
        this.counters = counters;
    }

    /**
     * Which way an object in memory goes.
     *
     * @param onSsd the SSD of the same node holds it
     * @param ssdTakes the SSD has room for it
     * @param underWay it is being copied, there or elsewhere
     * @param hasBudget one more may be on its way
     * @param urgent the node cannot wait for its SSD
     */
    static Way way(boolean onSsd, boolean ssdTakes, boolean underWay, boolean hasBudget, boolean urgent) {
        if (onSsd) {
            return Way.RELEASE;
        }
        if (underWay && ssdTakes) {
            return Way.WAIT;
        }
        if (!ssdTakes || (urgent && !hasBudget)) {
            return Way.EVICT;
        }
        return hasBudget ? Way.DEMOTE : Way.WAIT;
    }

    /**
     * Makes an object leave the memory of the nodes that need room.
     *
     * @return whether it must be evicted instead; then nothing was done
     */
    boolean mustEvict(StoredObject object, Eviction eviction, long now) {
        nowMs = now;
        for (Replica replica : object.replicas()) {
            if (isPressed(replica, eviction) && way(replica, eviction) == Way.EVICT) {
                return true;
            }
        }
        for (Replica replica : object.replicas()) {
            if (isPressed(replica, eviction)) {
                relieve(replica, way(replica, eviction), eviction);
            }
        }
        return false;
    }

    private static boolean isPressed(Replica replica, Eviction eviction) {
        return replica.isInMemory() && !replica.isFreeing() && eviction.isNeededOn(replica.node());
    }

    private Way way(Replica replica, Eviction eviction) {
        NodeView node = replica.node();
        if (!node.ssd.isThere()) {
            return Way.EVICT;
        }
        StoredObject object = replica.object();
        Replica onSsd = object.onSsdOf(node);
        return way(
                onSsd != null && !onSsd.isFreeing(),
                onSsd == null && node.ssd.takes(object.key().length(), object.payloadLength(), nowMs),
                copies.isUnderWay(object.name()),
                node.ssd.hasBudget(),
                eviction.isUrgentOn(node));
    }

    private void relieve(Replica replica, Way way, Eviction eviction) {
        switch (way) {
            case RELEASE -> {
                eviction.book(replica);
                release(replica);
            }
            case DEMOTE -> {
                NodeView node = replica.node();
                eviction.book(replica);
                copies.demote(replica, leadership.authority(), (demoted, status) -> arrived(demoted, node, status));
            }
            case WAIT -> {
                if (!replica.node().ssd.hasBudget()) {
                    eviction.waitFor(replica.node());
                }
            }
            case EVICT -> throw new IllegalStateException("judged before");
        }
    }

    private void arrived(StoredObject.Name demoted, NodeView node, Status status) {
        boolean done = status == Status.OK || status == Status.EXISTS;
        counters.add(done ? Count.DEMOTIONS_DONE : Count.DEMOTIONS_FAILED);
        if (!done) {
            node.ssd.refused(nowMs);
            return;
        }
        StoredObject object = index.object(demoted);
        Replica memory = object == null ? null : object.inMemoryOf(node);
        Replica onSsd = object == null ? null : object.onSsdOf(node);
        // Whoever asked for it meanwhile was sent to memory, and may rely on that.
        if (memory != null && onSsd != null && !object.isLeased(nowMs)) {
            release(memory);
        }
    }

    private void release(Replica memory) {
        counters.add(Count.RELEASED);
        counters.add(Count.RELEASED_BYTES, memory.extentBytes());
        memory.node().room.shortage.roomMayCome();
        frees.trim(memory);
    }

    void tick(long now) {
        nowMs = now;
    }
}
