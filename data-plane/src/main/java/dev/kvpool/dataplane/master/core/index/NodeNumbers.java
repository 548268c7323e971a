// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.base.Bounds;
import java.util.Arrays;

/** Short numbers for nodes, from when a node first shows a replica until it is forgotten. */
final class NodeNumbers {
    static final int NONE = -1;

    private NodeView[] nodes = new NodeView[16];

    int numberOf(NodeView node) {
        if (node.replicas.number() == NONE) {
            node.replicas.setNumber(takeFree(node));
        }
        return node.replicas.number();
    }

    NodeView node(int number) {
        return nodes[number];
    }

    /** The node has no replica any more. */
    void release(NodeView node) {
        if (node.replicas.number() != NONE) {
            nodes[node.replicas.number()] = null;
            node.replicas.setNumber(NONE);
        }
    }

    private int takeFree(NodeView node) {
        int number = 0;
        while (number < nodes.length && nodes[number] != null) {
            number++;
        }
        if (number == Bounds.NODES_MAX) {
            throw new IllegalStateException("the index holds replicas of more than " + Bounds.NODES_MAX + " nodes");
        }
        if (number == nodes.length) {
            nodes = Arrays.copyOf(nodes, 2 * number);
        }
        nodes[number] = node;
        return number;
    }
}
