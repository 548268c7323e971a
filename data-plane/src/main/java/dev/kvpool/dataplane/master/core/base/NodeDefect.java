// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

/**
 * The core has thrown while it applied what one node told, so its view may be half changed and must not be used any more: {@link
 * MasterCore#withoutView} makes one that begins again, and leaves that node out for a while.
 */
public final class NodeDefect extends RuntimeException {
    private final transient NodePeer peer;

    public NodeDefect(NodePeer peer, RuntimeException cause) {
        super("the core has thrown while it applied what " + peer + " told: " + cause, cause);
        this.peer = peer;
    }

    public NodePeer peer() {
        return peer;
    }
}
