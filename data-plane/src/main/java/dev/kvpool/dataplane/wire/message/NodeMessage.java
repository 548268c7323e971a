// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

import dev.kvpool.wire.Medium;
import java.util.List;

/** What a storage node tells a master: its stream of directory records, and answers to commands. */
public sealed interface NodeMessage extends Message {
    /** A segment of the node; {@code slots} is how many objects its directory can hold. */
    record Segment(int segment, Medium medium, long capacityBytes, long slots) {}

    /**
     * First message after Welcome.
     *
     * @param seen highest authority obeyed so far
     * @param objectLeaseMaxMs largest object lease any epoch used
     * @param highestObject highest object id in the directory
     * @param tcp HOST:PORT of the data endpoint
     * @param shm BOOTID:PATH of the unix socket, empty when off
     */
    record NodeInfo(
            Authority seen,
            ObjectId purgeId,
            long objectLeaseMaxMs,
            ObjectId highestObject,
            boolean isTransient,
            List<Segment> segments,
            String tcp,
            String shm)
            implements NodeMessage {}

    /** The snapshot begins; the next delta has {@code sequence} + 1. */
    record SnapshotBegin(long sequence) implements NodeMessage {}

    /** Part of the state when the stream began. */
    record SnapshotRecords(List<DirectoryRecord> records) implements NodeMessage {}

    /** Changes in order; the first has {@code sequence}, each next one more. */
    record Changes(long sequence, List<DirectoryRecord> records) implements NodeMessage {}

    /** The snapshot is complete; it held {@code count} records. */
    record SnapshotEnd(long count, long sequence) implements NodeMessage {}

    /** How full the node is, every 500 ms; doubles as a sign of life. */
    record NodeStats(
            long sequence, long usedBytes, long largestFreeBytes, long slotsUsed, long objects, long drainingBytes)
            implements NodeMessage {}

    /** Stands in the stream behind every commit that the fence allowed. */
    record FenceAck(long requestId, boolean accepted, Authority seen, long incarnation, long sequence)
            implements NodeMessage {}

    /** Stands in the stream behind the records of what was freed. */
    record FreeAck(long requestId, boolean accepted, Authority seen) implements NodeMessage {}
}
