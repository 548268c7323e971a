// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

import dev.kvpool.wire.Medium;
import java.util.List;

/** What a leader asks of a storage node. */
public sealed interface NodeCommand extends Message {
    /**
     * Has an epoch obeyed; objects with an id below {@code purgeId} are gone.
     *
     * @param grantSecret by which the node tells grants of this leader
     */
    record Fence(long requestId, Authority authority, long objectLeaseMs, ObjectId purgeId, GrantSecret grantSecret)
            implements NodeCommand {}

    /** An extent to free if it still holds this object. */
    record Extent(ExtentRef extent, ObjectId objectId) {}

    record Free(long requestId, Authority authority, List<Extent> extents) implements NodeCommand {}

    /** Everything with a lower id is gone, now and whenever it turns up. */
    record Purge(long requestId, Authority authority, ObjectId purgeId) implements NodeCommand {}

    /** Objects of {@code key} up to {@code objectId} are removed. */
    record Tombstone(ObjectId objectId, Key key) {}

    /** Asks to keep tombstones, all or none, until they are freed like extents; at most {@value #TOMBSTONES_MAX}. */
    record KeepTombstones(long requestId, Authority authority, List<Tombstone> tombstones) implements NodeCommand {
        public static final int TOMBSTONES_MAX = 256;
    }

    /**
     * Asks a node to read an object from a source and to commit it under the same id: in its memory, from another node or from
     * its own SSD, or on its SSD, from its own memory.
     *
     * @param medium where it goes
     * @param sourceIncarnation of the node that holds it
     * @param sourceTcp data endpoint of that node
     * @param sourceNode its id
     * @param sourceIsTransient as of {@link ClientReply.NodeRef}
     */
    record Copy(
            long requestId,
            Authority authority,
            ObjectId objectId,
            long payloadLength,
            int payloadCrc,
            Retention retention,
            long sourceIncarnation,
            ExtentRef sourceExtent,
            Medium medium,
            Key key,
            String sourceTcp,
            String sourceNode,
            boolean sourceIsTransient)
            implements NodeCommand {}

    /** Speak and write these versions from now on. */
    record Activate(long requestId, Authority authority, ActiveVersions versions) implements NodeCommand {}

    /** The leader gave its Lease back; the node tells the other masters. */
    record LeaderLeaves(Authority authority) implements NodeCommand {}
}
