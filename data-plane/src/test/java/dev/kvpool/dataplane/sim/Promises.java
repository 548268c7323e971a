// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.sim.SegmentImage.Slot;
import dev.kvpool.dataplane.wire.message.ClientReply.Found;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientReply.NodeRef;
import dev.kvpool.dataplane.wire.message.ClientReply.ReplicaRef;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.HashMap;
import java.util.Map;

/** Extents that readers were told about, and until when they may rely on that. */
final class Promises {
    private record Extent(String node, int segment, long slot, long generation, ObjectId id) {}

    private record Promise(long madeMs, long untilMs) {}

    private final World world;
    private final History history;
    private final Plan plan;
    private final Map<Extent, Promise> promises = new HashMap<>();

    Promises(World world, History history, Plan plan) {
        this.plan = plan;
        this.world = world;
        this.history = history;
    }

    void made(LookupReply reply, Truth truth) {
        for (Found found : reply.objects()) {
            if (found.status() == Status.OK) {
                for (ReplicaRef replica : found.replicas()) {
                    made(reply.nodes().get(replica.node()), replica, found.objectId(), reply.leaseMs(), truth);
                }
            }
        }
    }

    /** Nothing can be promised of memory that was lost before; its generations may begin anew. */
    private void made(NodeRef named, ReplicaRef replica, ObjectId id, long leaseMs, Truth truth) {
        SimNode node = truth.node(named.nodeId());
        if (node != null && node.isMemoryOf(named.incarnation())) {
            ExtentRef place = replica.extent();
            Extent extent = new Extent(named.nodeId(), place.segment(), place.slot(), place.generation(), id);
            Promise now = new Promise(world.nowMs(), world.nowMs() + leaseMs - plan.driftMs(leaseMs));
            promises.merge(extent, now, (old, late) -> old.untilMs > late.untilMs ? old : late);
        }
    }

    /** The node's memory, or its SSD, is lost, and its generations begin anew. */
    void forget(SimNode node, int segment) {
        promises.keySet().removeIf(extent -> extent.node.equals(node.nodeId()) && extent.segment == segment);
    }

    /** A node has freed an extent. */
    void freed(SimNode node, Slot slot) {
        Promise promise =
                promises.remove(new Extent(node.nodeId(), slot.segment(), slot.number(), slot.generation(), slot.id()));
        if (promise == null || promise.untilMs <= world.nowMs() || node.isDamaged(slot.id())) {
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
