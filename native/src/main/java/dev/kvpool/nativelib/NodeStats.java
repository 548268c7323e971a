// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.time.Duration;
import java.util.Set;

/**
 * Counts and gauges of a storage node. Counters start at 0 with each life of the process.
 *
 * @param listenPort the port really bound
 * @param incarnation random number of this life of the node
 * @param capacityBytes bytes that objects can use
 * @param usedBytes bytes allocated, committed or being written
 * @param objects committed objects
 * @param epoch the highest leadership obeyed, 0 for none yet
 * @param mastersConnected masters with an accepted connection, of {@code mastersTotal}
 * @param mastersTotal masters configured
 * @param clientsConnected client connections, all transports
 * @param fenced whether the node has met the leader of its epoch in this life
 * @param restoredObjects objects found in the segment file at start
 * @param droppedRecords records found torn, overlapping, out of range or of an epoch that no leader had, at start
 * @param writes objects written
 * @param writeBytes payload bytes written
 * @param writeFailures writes refused or broken off
 * @param reads objects read over a connection; shared-memory readers are not seen
 * @param readBytes payload bytes read over a connection
 * @param readMisses reads whose extent held another generation
 * @param checksumFailures payloads that did not match their checksum
 * @param staleRefusals commands and grants of an older epoch
 * @param protocolErrors connections ended for malformed bytes
 * @param damagedObjects objects dropped because their bytes no longer matched their checksum
 * @param scrubRounds times the scrub has been through the segment
 * @param scrubbedBytes payload bytes the scrub has compared with their checksums
 * @param copiesIn objects copied here from other nodes
 * @param copiesInBytes payload bytes copied here from other nodes
 * @param tombstones removed keys kept in mind now
 * @param idsHash order-free hash of the ids of the committed objects: equal for equal sets
 * @param restoredIdsHash the same of the objects found in the segment file at start
 * @param prefaultBytes bytes of the segment that prefaulting is to make present; 0 when it is off
 * @param prefaultedBytes those of them that it has
 * @param pageBytes size of the segment's pages
 * @param protocols what it serves; {@link NativeNode#explain} says why one is missing
 * @param ucxClients connected clients whose memory UCX reaches
 * @param ucxRefusals clients that wanted UCX and got tcp
 * @param ucxWriteBytes payload bytes written through UCX
 * @param ucxReadBytes payload bytes read through UCX
 * @param ssd the SSD tier
 * @param setAside files that the node could not use and did not delete
 * @param replacedLayout layout of an emptied segment that this build cannot read and made its own of at this start; 0: none
 * @param ascend what CANN moves
 * @param tls connections with TLS
 */
public record NodeStats(
        int listenPort,
        long incarnation,
        long capacityBytes,
        long usedBytes,
        long objects,
        long epoch,
        int mastersConnected,
        int mastersTotal,
        int clientsConnected,
        boolean fenced,
        long restoredObjects,
        long droppedRecords,
        long writes,
        long writeBytes,
        long writeFailures,
        long reads,
        long readBytes,
        long readMisses,
        long checksumFailures,
        long staleRefusals,
        long protocolErrors,
        long damagedObjects,
        long scrubRounds,
        long scrubbedBytes,
        long copiesIn,
        long copiesInBytes,
        long tombstones,
        long idsHash,
        long restoredIdsHash,
        long prefaultBytes,
        long prefaultedBytes,
        long pageBytes,
        Set<Protocol> protocols,
        int ucxClients,
        long ucxRefusals,
        long ucxWriteBytes,
        long ucxReadBytes,
        Ssd ssd,
        SetAside setAside,
        long replacedLayout,
        Ascend ascend,
        Tls tls) {

    public NodeStats {
        protocols = Set.copyOf(protocols);
    }

    /**
     * The SSD tier of a node.
     *
     * @param capacityBytes room for payloads; 0 when there is no tier
     * @param objects readable there
     * @param writes objects that became readable there in this life, with {@code writeBytes} of payload
     * @param off a tier was asked for and does not work; the log says why
     */
    public record Ssd(
            long capacityBytes, long usedBytes, long objects, long writes, long writeBytes, long reads, boolean off) {
        private static Ssd of(Struct stats) {
            return new Ssd(
                    stats.u64("ssd_capacity_bytes"),
                    stats.u64("ssd_used_bytes"),
                    stats.u64("ssd_objects"),
                    stats.u64("ssd_writes"),
                    stats.u64("ssd_write_bytes"),
                    stats.u64("ssd_reads"),
                    stats.u64("ssd_off") != 0);
        }
    }

    /**
     * Files that lay beside the node's own when it had started, set aside by that start or an earlier one.
     *
     * @param damaged cut off, with wrong checksums, or nothing of kvpool's
     * @param foreign of another pool or node
     * @param bytes what all of them take, of memory where the data directory is memory
     */
    public record SetAside(long damaged, long foreign, long bytes) {
        private static SetAside of(Struct stats) {
            return new SetAside(
                    stats.u64("damaged_files_set_aside"),
                    stats.u64("foreign_files_set_aside"),
                    stats.u64("set_aside_bytes"));
        }
    }

    /**
     * Payloads between the node and memory that CANN reaches.
     *
     * @param clients connected clients whose memory it reaches
     * @param refusals clients that wanted it and did not get it
     * @param writeBytes payload bytes written
     * @param readBytes payload bytes read
     * @param transfers that CANN ended well, with those that look whether a client is reached
     * @param failures transfers that it did not
     * @param timeouts of these, those that ran out of time
     * @param time sum of the durations of both, with the wait for a channel
     * @param channels by which they went
     */
    public record Ascend(
            long clients,
            long refusals,
            long writeBytes,
            long readBytes,
            long transfers,
            long failures,
            long timeouts,
            Duration time,
            Channels channels) {
        private static Ascend of(Struct stats) {
            return new Ascend(
                    stats.u64("ascend_clients"),
                    stats.u64("ascend_refusals"),
                    stats.u64("ascend_write_bytes"),
                    stats.u64("ascend_read_bytes"),
                    stats.u64("ascend_transfers"),
                    stats.u64("ascend_transfer_failures"),
                    stats.u64("ascend_transfer_timeouts"),
                    Duration.ofNanos(stats.u64("ascend_transfer_us") * 1000),
                    Channels.of(stats));
        }
    }

    /**
     * Channels of CANN between the node's engine and those of clients.
     *
     * @param connects channels that were wanted of CANN, or left to it
     * @param renewals channels that were ended to be made again, as they did not know all memory or were of an earlier life
     * @param disconnects ends that were wanted of CANN
     * @param roomMade channels that ended because another one needed their room
     * @param retries transfers that were tried again, as CANN had no room for their channel
     * @param inUse those that there are now, with {@code kept}
     * @param kept those that CANN keeps, as their peer is gone and could not be told
     * @param most how many there may be
     */
    public record Channels(
            long connects,
            long renewals,
            long disconnects,
            long roomMade,
            long retries,
            long inUse,
            long kept,
            long most) {
        private static Channels of(Struct stats) {
            return new Channels(
                    stats.u64("ascend_connects"),
                    stats.u64("ascend_renewals"),
                    stats.u64("ascend_disconnects"),
                    stats.u64("ascend_room_made"),
                    stats.u64("ascend_retries"),
                    stats.u64("ascend_channels"),
                    stats.u64("ascend_channels_kept"),
                    stats.u64("ascend_channels_max"));
        }
    }

    /**
     * Connections with TLS, dialled and accepted.
     *
     * @param handshakes that ended well
     * @param failures that did not, with {@code plainRefusals}
     * @param plainRefusals connections without TLS where it is required
     * @param authRefusals peers with a good certificate that does not allow what they asked for
     * @param grantRefusals writes that the leader did not grant to that client, on this node; also without TLS
     * @param notAfterMs when the node's certificate ends, in milliseconds since 1970; 0 when it has none
     */
    public record Tls(
            long handshakes,
            long failures,
            long plainRefusals,
            long authRefusals,
            long grantRefusals,
            long notAfterMs) {
        private static Tls of(Struct stats) {
            return new Tls(
                    stats.u64("tls_handshakes"),
                    stats.u64("tls_handshake_failures"),
                    stats.u64("tls_plain_refusals"),
                    stats.u64("auth_refusals"),
                    stats.u64("grant_refusals"),
                    stats.u64("tls_not_after_ms"));
        }
    }

    static NodeStats of(Struct stats) {
        return new NodeStats(
                stats.u32("listen_port"),
                stats.u64("incarnation"),
                stats.u64("capacity_bytes"),
                stats.u64("used_bytes"),
                stats.u64("objects"),
                stats.u64("epoch"),
                stats.u32("masters_connected"),
                stats.u32("masters_total"),
                stats.u32("clients_connected"),
                stats.u32("fenced") != 0,
                stats.u64("restored_objects"),
                stats.u64("dropped_records"),
                stats.u64("writes"),
                stats.u64("write_bytes"),
                stats.u64("write_failures"),
                stats.u64("reads"),
                stats.u64("read_bytes"),
                stats.u64("read_misses"),
                stats.u64("checksum_failures"),
                stats.u64("stale_refusals"),
                stats.u64("protocol_errors"),
                stats.u64("damaged_objects"),
                stats.u64("scrub_rounds"),
                stats.u64("scrubbed_bytes"),
                stats.u64("copies_in"),
                stats.u64("copies_in_bytes"),
                stats.u64("tombstones"),
                stats.u64("ids_hash"),
                stats.u64("restored_ids_hash"),
                stats.u64("prefault_bytes"),
                stats.u64("prefaulted_bytes"),
                stats.u64("page_bytes"),
                Protocol.of(stats.u32("protocols")),
                stats.u32("ucx_clients"),
                stats.u64("ucx_refusals"),
                stats.u64("ucx_write_bytes"),
                stats.u64("ucx_read_bytes"),
                Ssd.of(stats),
                SetAside.of(stats),
                stats.u64("replaced_layout"),
                Ascend.of(stats),
                Tls.of(stats));
    }
}
