// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What to evict. A node above its high watermark, in bytes or in directory slots, is brought down to the low one; what is
 * already on its way out counts as gone. Least recently leased objects go first, a leased one never, and an object goes
 * with all its replicas. The plan ends only when every node has what it needs or nothing else may go: a full pool never
 * rests while it holds something evictable.
 */
final class Eviction {
    private Eviction() {}

    /** The plan, and whether it brings every node where it should be. */
    record Plan(List<StoredObject> victims, boolean sufficient) {}

    /** What a node still has to lose. */
    private static final class Need {
        private long bytes;
        private long slots;

        boolean isOpen() {
            return bytes > 0 || slots > 0;
        }
    }

    static boolean isNeeded(Collection<NodeView> nodes, double high) {
        for (NodeView node : nodes) {
            if (node.usable && (node.wantedBytes > 0 || isAbove(node, high))) {
                return true;
            }
        }
        return false;
    }

    static Plan plan(
            Collection<NodeView> nodes, Iterable<StoredObject> coldestFirst, double high, double low, long nowMs) {
        Map<NodeView, Need> needs = needs(nodes, high, low);
        int open = needs.size();
        List<StoredObject> victims = new ArrayList<>();
        for (StoredObject object : coldestFirst) {
            if (open == 0) {
                break;
            }
            if (object.isLeased(nowMs) || !helps(object, needs)) {
                continue;
            }
            victims.add(object);
            open -= satisfied(object, needs);
        }
        return new Plan(victims, open == 0);
    }

    private static Map<NodeView, Need> needs(Collection<NodeView> nodes, double high, double low) {
        Map<NodeView, Need> needs = new HashMap<>();
        for (NodeView node : nodes) {
            Need need = new Need();
            if (isAbove(node, high)) {
                need.bytes = bytesHeld(node) - (long) (node.capacityBytes * low);
                need.slots = slotsHeld(node) - (long) (node.capacitySlots * low);
            }
            need.bytes = Math.max(need.bytes, node.wantedBytes);
            if (node.usable && need.isOpen()) {
                needs.put(node, need);
            }
        }
        return needs;
    }

    private static boolean helps(StoredObject object, Map<NodeView, Need> needs) {
        for (Replica replica : object.replicas()) {
            Need need = needs.get(replica.node());
            if (need != null && need.isOpen()) {
                return true;
            }
        }
        return false;
    }

    /** Books the extents of a victim and returns how many nodes thereby have what they need. */
    private static int satisfied(StoredObject victim, Map<NodeView, Need> needs) {
        int closed = 0;
        for (Replica replica : victim.replicas()) {
            Need need = needs.get(replica.node());
            if (need != null && need.isOpen()) {
                need.bytes -= replica.extentBytes();
                need.slots--;
                closed += need.isOpen() ? 0 : 1;
            }
        }
        return closed;
    }

    private static boolean isAbove(NodeView node, double watermark) {
        return bytesHeld(node) > node.capacityBytes * watermark || slotsHeld(node) > node.capacitySlots * watermark;
    }

    private static long bytesHeld(NodeView node) {
        return node.usedBytes() + node.grantedBytes - node.freeingBytes();
    }

    private static long slotsHeld(NodeView node) {
        return node.usedSlots() + node.grantedSlots - node.freeingSlots();
    }
}
