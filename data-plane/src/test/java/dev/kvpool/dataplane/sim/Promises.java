// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.sim.SegmentImage.Slot;
import dev.kvpool.dataplane.wire.message.ClientReply.Found;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientReply.NodeRef;
import dev.kvpool.dataplane.wire.message.ClientReply.ReplicaRef;
import dev.kvpool.nativelib.Status;
import java.util.HashMap;
import java.util.Map;

/** Extents that readers were told about, and until when they may rely on that. */
final class Promises {
    private record Extent(String node, long slot, long generation) {}

    private record Promise(long madeMs, long untilMs) {}

    private final World world;
    private final History history;
    private final Map<Extent, Promise> promises = new HashMap<>();

    Promises(World world, History history) {
        this.world = world;
        this.history = history;
    }

    void made(LookupReply reply, Truth truth) {
        for (Found found : reply.objects()) {
            if (found.status() == Status.OK) {
                for (ReplicaRef replica : found.replicas()) {
                    made(reply.nodes().get(replica.node()), replica, reply.leaseMs(), truth);
                }
            }
        }
    }

    /** Nothing can be promised of memory that was lost before; its generations may begin anew. */
    private void made(NodeRef named, ReplicaRef replica, long leaseMs, Truth truth) {
        SimNode node = truth.node(named.nodeId());
        if (node != null && node.isMemoryOf(named.incarnation())) {
            Extent extent = new Extent(
                    named.nodeId(), replica.extent().slot(), replica.extent().generation());
            Promise now = new Promise(world.nowMs(), world.nowMs() + leaseMs);
            promises.merge(extent, now, (old, late) -> old.untilMs > late.untilMs ? old : late);
        }
    }

    /** The node's memory is lost, and its generations begin anew. */
    void forget(SimNode node) {
        promises.keySet().removeIf(extent -> extent.node.equals(node.nodeId()));
    }

    /** A node has freed an extent. */
    void freed(SimNode node, Slot slot) {
        Promise promise = promises.remove(new Extent(node.nodeId(), slot.number(), slot.generation()));
        if (promise == null || promise.untilMs <= world.nowMs()) {
            return;
        }
        Violation.unless(
                history.isRemovalPossible(slot.key(), promise.madeMs, true)
                        || history.isUpsertPossible(slot.key(), promise.madeMs),
                "leased extents stay",
                "%s freed object %s of %s although a reader may use it for %d ms more",
                node,
                slot.id(),
                slot.key(),
                promise.untilMs - world.nowMs());
    }
}
