// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Departure;
import dev.kvpool.wire.Medium;
import java.util.List;

/** What a storage node tells a master: its stream of directory records, and answers to commands. */
public sealed interface NodeMessage extends Message {
    /** A segment of the node; {@code slots} is how many objects its directory can hold. */
    record Segment(int segment, Medium medium, long capacityBytes, long slots) {}

    /**
     * What a life of a node found in its segments when it began.
     *
     * @param idsHash order-free hash of the ids of {@code objects}, as in {@link NodeStats}
     * @param dropped records that were torn, overlapping, out of range or of an epoch that no leader had
     */
    record Restored(long objects, long idsHash, long dropped) {
        public static final Restored NOTHING = new Restored(0, 0, 0);
    }

    /**
     * First message after Welcome.
     *
     * @param seen highest authority obeyed so far
     * @param objectLeaseMaxMs largest object lease any epoch used
     * @param highestObject highest object id in the directory
     * @param memory number of the segment in memory: a node that lost its memory comes back with another one
     * @param tier number of its SSD, also of one that does not work and has no segment; 0 when there is none
     * @param active what the node keeps as its pool's versions, and writes its segments in
     * @param tcp HOST:PORT of the data endpoint
     * @param shm BOOTID:PATH of the unix socket, empty when off
     * @param zone failure domain, empty when unknown
     */
    record NodeInfo(
            Authority seen,
            ObjectId purgeId,
            long objectLeaseMaxMs,
            ObjectId highestObject,
            boolean isTransient,
            Restored restored,
            long memory,
            long tier,
            ActiveVersions active,
            List<Segment> segments,
            String tcp,
            String shm,
            String zone)
            implements NodeMessage {
        /** Of a node without an SSD. */
        public NodeInfo(
                Authority seen,
                ObjectId purgeId,
                long objectLeaseMaxMs,
                ObjectId highestObject,
                boolean isTransient,
                Restored restored,
                long memory,
                ActiveVersions active,
                List<Segment> segments,
                String tcp,
                String shm,
                String zone) {
            this(
                    seen,
                    purgeId,
                    objectLeaseMaxMs,
                    highestObject,
                    isTransient,
                    restored,
                    memory,
                    0,
                    active,
                    segments,
                    tcp,
                    shm,
                    zone);
        }
    }

    /** The snapshot begins; the next delta has {@code sequence} + 1. */
    record SnapshotBegin(long sequence) implements NodeMessage {}

    /** Part of the state when the stream began. */
    record SnapshotRecords(List<DirectoryRecord> records) implements NodeMessage {}

    /** Changes in order; the first has {@code sequence}, each next one more. */
    record Changes(long sequence, List<DirectoryRecord> records) implements NodeMessage {}

    /** The snapshot is complete; it held {@code count} records. */
    record SnapshotEnd(long count, long sequence) implements NodeMessage {}

    /**
     * How full and how well the node is, every 500 ms; doubles as a sign of life.
     *
     * @param idsHash order-free hash of the ids of all committed objects
     * @param damaged objects of this life dropped because their bytes no longer matched their checksum
     * @param ssd how the SSD tier is
     */
    record NodeStats(
            long sequence,
            long usedBytes,
            long largestFreeBytes,
            long slotsUsed,
            long objects,
            long drainingBytes,
            long idsHash,
            long damaged,
            long scrubRounds,
            ActiveVersions active,
            Ssd ssd)
            implements NodeMessage {}

    /**
     * The SSD tier of a node.
     *
     * @param problem why one that was asked for is off; empty when it works or there is none
     */
    record Ssd(long usedBytes, long objects, String problem) {
        public static final Ssd NONE = new Ssd(0, 0, "");
    }

    /**
     * The holder of this authority, the highest the node obeys, is gone.
     *
     * @param silentMs for SILENT: how long nothing had come from it when this was sent
     * @param beat for SILENT: of the Heartbeat that this answers
     * @param address HOST:PORT where the node knew it
     */
    record LeaderGone(Authority authority, Departure departure, long silentMs, long beat, String address)
            implements NodeMessage {
        public LeaderGone(Authority authority, Departure departure, String address) {
            this(authority, departure, 0, 0, address);
        }
    }

    /** The last message of a transient node: it ends in order, and its memory with it. */
    record NodeLeaves() implements NodeMessage {}

    /**
     * Stands in the stream behind every commit that the fence allowed.
     *
     * @param objectLeaseMaxMs largest object lease any epoch used, this one included
     * @param purgeId below which every object is gone from the node, by this fence or by a purge of whichever leader
     */
    record FenceAck(
            long requestId,
            boolean accepted,
            Authority seen,
            long incarnation,
            long sequence,
            long objectLeaseMaxMs,
            ObjectId purgeId)
            implements NodeMessage {}

    /**
     * Stands in the stream behind the records that a command led to.
     *
     * @param accepted false: the authority is stale, and nothing was done
     * @param status OK, or why an accepted command was not carried out
     */
    record CommandAck(long requestId, boolean accepted, Authority seen, Status status) implements NodeMessage {}
}
