// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

/**
 * Counts and gauges of an agent. Counters start at 0 with each life of the process.
 *
 * @param leaderKnown whether it is connected to a serving leader
 * @param epoch the leadership it has met last, 0 for none yet
 * @param clients clients connected now
 * @param stagingBytes staging memory shared with them now, at most {@code stagingBytesMax}
 * @param stagingBytesMax the bound of it
 * @param running requests being done
 * @param requests requests taken, of one batch or part of one each
 * @param lines keys in them
 * @param refusedClients clients refused for their version, their role, or a bound
 * @param protocolErrors connections ended for malformed bytes
 * @param putBytes payload bytes put
 * @param getBytes payload bytes read
 * @param hits reads that found their object
 * @param misses reads that did not
 * @param retries steps done again after a change of leader or a lost connection
 * @param checksumFailures payloads that did not match their checksum
 * @param leaderChanges leaders followed after the first
 * @param shmBytes of the bytes put and read, those that moved through memory shared with storage nodes
 * @param shmRefusals tries to share memory with a storage node on this machine that failed; the log says why
 */
public record AgentStats(
        boolean leaderKnown,
        long epoch,
        long clients,
        long stagingBytes,
        long stagingBytesMax,
        long running,
        long requests,
        long lines,
        long refusedClients,
        long protocolErrors,
        long putBytes,
        long getBytes,
        long hits,
        long misses,
        long retries,
        long checksumFailures,
        long leaderChanges,
        long shmBytes,
        long shmRefusals) {

    static AgentStats of(Struct stats) {
        return new AgentStats(
                stats.u32("leader_known") != 0,
                stats.u64("epoch"),
                stats.u64("clients"),
                stats.u64("staging_bytes"),
                stats.u64("staging_bytes_max"),
                stats.u64("running"),
                stats.u64("requests"),
                stats.u64("lines"),
                stats.u64("refused_clients"),
                stats.u64("protocol_errors"),
                stats.u64("put_bytes"),
                stats.u64("get_bytes"),
                stats.u64("hits"),
                stats.u64("misses"),
                stats.u64("retries"),
                stats.u64("checksum_failures"),
                stats.u64("leader_changes"),
                stats.u64("shm_bytes"),
                stats.u64("shm_refusals"));
    }
}
