// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.time.Duration;

/**
 * Counters of a transfer engine since it started.
 *
 * @param listenPort the port really bound
 * @param regions registered regions
 * @param regionBytes their bytes
 * @param peersConnected peers that we dialled
 * @param clientsConnected peers that dialled us
 * @param batches batches done, of any outcome
 * @param writeBytes bytes of written lines that are OK
 * @param readBytes bytes of read lines that are OK
 * @param failedLines lines that are not OK
 * @param timedOutLines of these, those that ran out of time
 * @param retries lines that were tried once more
 * @param peerRestarts times a peer came back as another process
 * @param servedWriteBytes bytes peers wrote here
 * @param servedReadBytes bytes peers read here
 * @param refusedRequests requests of peers for what is not registered
 * @param checksumFailures payloads that did not match their checksum
 * @param protocolErrors connections ended for malformed bytes
 * @param notifiesSent notifications told
 * @param notifiesReceived notifications heard
 * @param batchTime sum of the durations of batches
 */
public record EngineStats(
        int listenPort,
        long regions,
        long regionBytes,
        long peersConnected,
        long clientsConnected,
        long batches,
        long writeBytes,
        long readBytes,
        long failedLines,
        long timedOutLines,
        long retries,
        long peerRestarts,
        long servedWriteBytes,
        long servedReadBytes,
        long refusedRequests,
        long checksumFailures,
        long protocolErrors,
        long notifiesSent,
        long notifiesReceived,
        Duration batchTime) {

    static EngineStats of(Struct stats) {
        return new EngineStats(
                stats.u32("listen_port"),
                stats.u64("regions"),
                stats.u64("region_bytes"),
                stats.u64("peers_connected"),
                stats.u64("clients_connected"),
                stats.u64("batches"),
                stats.u64("write_bytes"),
                stats.u64("read_bytes"),
                stats.u64("failed_lines"),
                stats.u64("timed_out_lines"),
                stats.u64("retries"),
                stats.u64("peer_restarts"),
                stats.u64("served_write_bytes"),
                stats.u64("served_read_bytes"),
                stats.u64("refused_requests"),
                stats.u64("checksum_failures"),
                stats.u64("protocol_errors"),
                stats.u64("notifies_sent"),
                stats.u64("notifies_received"),
                Duration.ofNanos(stats.u64("batch_us") * 1000));
    }
}
