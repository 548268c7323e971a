// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;

/** An object's bytes on one node. */
final class Replica {
    final StoredObject object;
    final NodeView node;
    final ExtentRef extent;
    final long offset;
    final long extentBytes;

    /** Number of the last snapshot that held it. */
    int snapshot;

    /** The node was or is about to be told to free it. */
    boolean freeing;

    Replica(StoredObject object, NodeView node, ExtentRef extent, long offset, long extentBytes) {
        this.object = object;
        this.node = node;
        this.extent = extent;
        this.offset = offset;
        this.extentBytes = extentBytes;
    }

    boolean is(DirectoryRecord line) {
        return extent.equals(line.extent()) && object.id.equals(line.objectId()) && offset == line.offset();
    }

    static long place(ExtentRef extent) {
        return ((long) extent.segment() << 32) | extent.slot();
    }
}
