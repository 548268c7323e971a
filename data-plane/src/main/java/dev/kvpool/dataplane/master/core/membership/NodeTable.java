// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.membership;

import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.wire.message.ClientReply.NodeRef;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/** The nodes a reply names, each once. */
public final class NodeTable {
    private final IdentityHashMap<NodeView, Integer> places = new IdentityHashMap<>();
    private final List<NodeRef> nodes = new ArrayList<>();

    public int place(NodeView node) {
        Integer known = places.get(node);
        if (known != null) {
            return known;
        }
        int place = nodes.size();
        places.put(node, place);
        nodes.add(node.reference());
        return place;
    }

    public List<NodeRef> nodes() {
        return nodes;
    }
}
