// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.time.Duration;

/**
 * Counters of a client since it connected.
 *
 * @param leaderKnown whether it is connected to a serving leader
 * @param epoch leadership of that leader
 * @param puts objects put
 * @param gets objects asked for
 * @param hits gets that gave bytes
 * @param misses gets that did not
 * @param putBytes payload bytes put
 * @param getBytes payload bytes read
 * @param shmBytes of both, the bytes that moved through shared memory
 * @param retries operations tried again
 * @param checksumFailures payloads that did not match their checksum
 * @param leaderChanges times another leader was found
 * @param ucxBytes of the bytes put and read, those that UCX moved
 * @param ucxLanes connections to nodes on which UCX was put to use
 * @param ucxRefusals nodes to which UCX was wanted and tcp is used
 * @param shmRefusals tries to share memory with a node on this machine that failed; the log says why
 * @param putTime sum of the durations of batches of puts
 * @param getTime sum of the durations of batches of gets
 * @param ascendBytes of the bytes put and read, those that CANN moved
 * @param ascendLanes connections to nodes on which CANN was put to use
 * @param ascendRefusals nodes to which CANN was wanted and could not be had
 */
public record ClientStats(
        boolean leaderKnown,
        long epoch,
        long puts,
        long gets,
        long hits,
        long misses,
        long putBytes,
        long getBytes,
        long shmBytes,
        long retries,
        long checksumFailures,
        long leaderChanges,
        long ucxBytes,
        long ucxLanes,
        long ucxRefusals,
        long shmRefusals,
        Duration putTime,
        Duration getTime,
        long ascendBytes,
        long ascendLanes,
        long ascendRefusals) {

    static ClientStats of(Struct stats) {
        return new ClientStats(
                stats.u32("leader_known") != 0,
                stats.u64("epoch"),
                stats.u64("puts"),
                stats.u64("gets"),
                stats.u64("hits"),
                stats.u64("misses"),
                stats.u64("put_bytes"),
                stats.u64("get_bytes"),
                stats.u64("shm_bytes"),
                stats.u64("retries"),
                stats.u64("checksum_failures"),
                stats.u64("leader_changes"),
                stats.u64("ucx_bytes"),
                stats.u64("ucx_lanes"),
                stats.u64("ucx_refusals"),
                stats.u64("shm_refusals"),
                Duration.ofNanos(stats.u64("put_batch_us") * 1000),
                Duration.ofNanos(stats.u64("get_batch_us") * 1000),
                stats.u64("ascend_bytes"),
                stats.u64("ascend_lanes"),
                stats.u64("ascend_refusals"));
    }
}
