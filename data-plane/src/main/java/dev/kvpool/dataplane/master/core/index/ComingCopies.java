// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.agrona.collections.Int2IntCounterMap;
import org.agrona.collections.IntHashSet;

/**
 * Copies of objects that nodes were told to make and of which nobody knows yet whether they have. An object whose last known
 * replica goes meanwhile is not lost, for its copy may be written and its record on the way.
 */
final class ComingCopies {
    private final Int2IntCounterMap ofObject = new Int2IntCounterMap(0);

    /** {@code Copies} bounds how many there are of one node. */
    private final Map<NodeView, IntHashSet> toNode = new LinkedHashMap<>();

    void begin(int object, NodeView target) {
        if (toNode.computeIfAbsent(target, node -> new IntHashSet()).add(object)) {
            ofObject.incrementAndGet(object);
        }
    }

    boolean mayCome(int object) {
        return ofObject.get(object) > 0;
    }

    /** It has come or never will. */
    void end(int object, NodeView target) {
        IntHashSet objects = toNode.get(target);
        if (objects != null && objects.remove(object)) {
            ofObject.decrementAndGet(object);
        }
    }

    /** The objects of which a node may have made a copy. */
    int[] to(NodeView target) {
        IntHashSet objects = toNode.get(target);
        return objects == null
                ? new int[0]
                : objects.stream().mapToInt(Integer::intValue).toArray();
    }

    /** Nodes that were told to make some. */
    List<NodeView> targets() {
        return List.copyOf(toNode.keySet());
    }

    void forget(NodeView target) {
        toNode.remove(target);
    }
}
