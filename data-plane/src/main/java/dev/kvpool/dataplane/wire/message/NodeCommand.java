// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

import java.util.List;

/** What a leader asks of a storage node. */
public sealed interface NodeCommand extends Message {
    record Fence(long requestId, Authority authority, long objectLeaseMs) implements NodeCommand {}

    /** An extent to free if it still holds this object. */
    record Extent(ExtentRef extent, ObjectId objectId) {}

    record Free(long requestId, Authority authority, List<Extent> extents) implements NodeCommand {}
}
