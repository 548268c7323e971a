// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.wire.message.ExtentRef;

/**
 * An object's bytes on one node: a view into the memory of the {@link Index}. Good for the turn it was asked for in: whoever
 * comes back to it later keeps the node and the extent and asks {@link Index#replica}. Two of them are compared with equals,
 * never with ==.
 */
public final class Replica {
    private final Views views;
    private final ReplicaRecords replicas;
    private final int at;

    Replica(Views views, int at) {
        this.views = views;
        this.replicas = views.replicas();
        this.at = at;
    }

    /** Where it lies in the memory of the index. */
    int at() {
        assert replicas.isLive(at) : "a replica that has left the index";
        return at;
    }

    public StoredObject object() {
        return views.object(replicas.owner(at()));
    }

    public NodeView node() {
        return replicas.node(at());
    }

    public ExtentRef extent() {
        return replicas.extent(at());
    }

    /** Where the payload starts in the segment. */
    public long offset() {
        return replicas.offset(at());
    }

    /** False: it lies on the node's SSD. */
    public boolean isInMemory() {
        return replicas.isInMemory(at());
    }

    /** It lies on an SSD, and the memory of the same node holds the object too. */
    public boolean isSecond() {
        return replicas.isSecond(at());
    }

    /** Bytes allocated on the node, key and padding included. */
    public long extentBytes() {
        return replicas.extentBytes(at());
    }

    /** The node was, or is about to be, told to free it; see {@link Index#freeing}. */
    public boolean isFreeing() {
        return replicas.isFreeing(at());
    }

    /** Whether readers can be sent there for as long as there are no other orders. */
    public boolean isStaying() {
        return node().usable() && !node().leaving() && !isFreeing();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Replica replica && replica.at == at && replica.replicas == replicas;
    }

    @Override
    public int hashCode() {
        return at;
    }
}
