// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;

/**
 * An object's bytes on one node. Good for the turn it was asked for in: whoever comes back to it later keeps the node and the
 * extent and asks {@link Index#replica}. Two of them are compared with equals, never with ==.
 */
final class Replica {
    private final StoredObject object;
    private final NodeView node;
    private final ExtentRef extent;
    private final long offset;
    private final long extentBytes;

    /** Number of the last snapshot that held it. */
    private int snapshot;

    private boolean freeing;

    Replica(StoredObject object, NodeView node, DirectoryRecord line) {
        this.object = object;
        this.node = node;
        this.extent = line.extent();
        this.offset = line.offset();
        this.extentBytes = line.extentBytes();
        this.snapshot = node.snapshot;
    }

    StoredObject object() {
        return object;
    }

    NodeView node() {
        return node;
    }

    ExtentRef extent() {
        return extent;
    }

    /** Where the payload starts in the segment. */
    long offset() {
        return offset;
    }

    /** Bytes allocated on the node, key and padding included. */
    long extentBytes() {
        return extentBytes;
    }

    /** The node was, or is about to be, told to free it; see {@link Index#freeing}. */
    boolean isFreeing() {
        return freeing;
    }

    boolean is(DirectoryRecord line) {
        return extent.equals(line.extent()) && object.id().equals(line.objectId()) && offset == line.offset();
    }

    // ---- changed by the Index alone -----------------------------------------------------------------------------

    /** The latest snapshot of the node, or a change after it, held this replica. */
    boolean isConfirmed() {
        return snapshot == node.snapshot;
    }

    void confirm() {
        snapshot = node.snapshot;
    }

    void freeing(boolean now) {
        freeing = now;
    }
}
