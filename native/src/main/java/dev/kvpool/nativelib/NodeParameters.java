// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/**
 * What a storage node needs to start. The library checks the values and answers with a sentence; here only what cannot
 * cross the border is refused.
 *
 * @param poolId the pool it belongs to; segment files of another pool are set aside
 * @param nodeId its name in the pool, 1 to 253 bytes, the same after every restart
 * @param masters every master as {@code HOST:PORT}, separated by commas, IPv6 hosts in brackets
 * @param listenHost address to listen on; null for both address families
 * @param listenPort port to listen on; 0 for any free one, {@code listen_port} of its numbers says which
 * @param advertiseHost host or address at which clients reach this node
 * @param dataDir existing directory on tmpfs or hugetlbfs for the segment file and, without a {@code socketDir}, the
 *     shared-memory socket
 * @param segmentBytes size of a new segment file; an existing one keeps its size
 * @param protocols transports to serve; empty for tcp and shared memory
 * @param connectTimeout bound of a connection attempt to a master
 * @param transferTimeout a connection that makes no progress for this long ends
 * @param idleTimeout clients close a connection that they do not use for this long, the node does at twice the time; null
 *     for 5 min
 * @param product product version told to peers
 * @param zone failure domain of this node, which replicas of an object prefer to differ in; empty when unknown
 * @param scrubBytesPerSecond how fast stored payloads are compared with their checksums; 0 for the library's default
 * @param numa where a new segment's memory lies: {@code local}, {@code interleave} or the number of a NUMA node; empty
 *     for as the process has it
 * @param prefault whether the segment's pages are made present while the node already serves
 * @param lockMemory whether they are locked, so that they are never swapped
 * @param ssdPath existing directory, or block device, of the SSD tier; empty for none
 * @param ssdBytes what the tier may take there; 0 for none
 * @param socketDir existing directory, as an absolute path, for the shared-memory socket; empty for {@code dataDir}
 * @param stagingBytes bound of the memory that all clients together share with the node; 0 for the default
 * @param ssdKeyFile file with the key, 32 bytes or 64 hexadecimal digits, that the SSD tier is encrypted with; empty for none
 * @param tls certificates and what is demanded of peers on TCP
 * @param payloads what becomes of connections with clients and other nodes behind the handshake; without TLS it means nothing
 * @param trustedFabric whether ucx and ascend, which have no TLS, are served also where it is required
 */
public record NodeParameters(
        UUID poolId,
        String nodeId,
        String masters,
        String listenHost,
        int listenPort,
        String advertiseHost,
        Path dataDir,
        long segmentBytes,
        Set<Protocol> protocols,
        Duration connectTimeout,
        Duration transferTimeout,
        Duration idleTimeout,
        String product,
        String zone,
        long scrubBytesPerSecond,
        String numa,
        boolean prefault,
        boolean lockMemory,
        String ssdPath,
        long ssdBytes,
        String socketDir,
        long stagingBytes,
        String ssdKeyFile,
        TlsParameters tls,
        Payloads payloads,
        boolean trustedFabric) {

    /** KV_NODE_NO_PREFAULT of kvpool.h. */
    static final int NO_PREFAULT = 2;

    /** KV_NODE_LOCK_MEMORY of kvpool.h. */
    static final int LOCK_MEMORY = 4;

    /** KV_NODE_TRUSTED_FABRIC of kvpool.h. */
    static final int TRUSTED_FABRIC = 8;

    public NodeParameters {
        Objects.requireNonNull(poolId, "poolId");
        Objects.requireNonNull(nodeId, "nodeId");
        Objects.requireNonNull(masters, "masters");
        Objects.requireNonNull(advertiseHost, "advertiseHost");
        Objects.requireNonNull(dataDir, "dataDir");
        Objects.requireNonNull(zone, "zone");
        Objects.requireNonNull(numa, "numa");
        Objects.requireNonNull(ssdPath, "ssdPath");
        Objects.requireNonNull(socketDir, "socketDir");
        Objects.requireNonNull(ssdKeyFile, "ssdKeyFile");
        Objects.requireNonNull(tls, "tls");
        Objects.requireNonNull(payloads, "payloads");
        protocols = Set.copyOf(protocols);
    }

    void writeTo(Struct struct) {
        struct.u32(
                        "flags",
                        (prefault ? 0 : NO_PREFAULT)
                                | (lockMemory ? LOCK_MEMORY : 0)
                                | (trustedFabric ? TRUSTED_FABRIC : 0))
                .text("pool_id", Arguments.text("pool id", poolId.toString()))
                .text("node_id", Arguments.text("node id", nodeId))
                .text("masters", Arguments.text("masters", masters))
                .text("listen_host", Arguments.text("listen host", listenHost))
                .text("advertise_host", Arguments.text("advertised host", advertiseHost))
                .text("data_dir", Arguments.text("data directory", dataDir.toString()))
                .u64("segment_bytes", Arguments.bytes("segment size", segmentBytes))
                .u32("listen_port", Arguments.port("listen port", listenPort))
                .u32("protocols", Protocol.bits(protocols))
                .u32("connect_timeout_ms", Arguments.milliseconds("connect timeout", connectTimeout))
                .u32("transfer_timeout_ms", Arguments.milliseconds("transfer timeout", transferTimeout))
                .u32("idle_timeout_ms", Arguments.milliseconds("idle timeout", idleTimeout))
                .text("product", Arguments.text("product version", product))
                .text("zone", Arguments.text("zone", zone.isEmpty() ? null : zone))
                .u64("scrub_bytes_per_second", Arguments.bytes("scrub rate", scrubBytesPerSecond))
                .text("numa", Arguments.text("NUMA placement", numa.isEmpty() ? null : numa))
                .text("ssd_path", Arguments.text("path of the SSD tier", ssdPath.isEmpty() ? null : ssdPath))
                .u64("ssd_bytes", Arguments.bytes("size of the SSD tier", ssdBytes))
                .text("socket_dir", Arguments.text("directory of the socket", socketDir.isEmpty() ? null : socketDir))
                .u64("staging_bytes", Arguments.bytes("staging memory", stagingBytes))
                .text("ssd_key_file", Arguments.text("key of the SSD tier", ssdKeyFile.isEmpty() ? null : ssdKeyFile));
        tls.writeTo(struct);
        struct.u32("payloads", payloads.number(tls));
    }
}
