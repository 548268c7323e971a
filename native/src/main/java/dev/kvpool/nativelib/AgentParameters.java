// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;

/**
 * What an agent is started with.
 *
 * @param masters every master as {@code HOST:PORT}, separated by commas, in any order
 * @param socket where clients find it; at most 107 bytes
 * @param abstractSocket name of a second socket without a file, for clients of this user and network namespace; null for none
 * @param name shown in logs of masters, nodes and clients; null for the host name
 * @param stagingBytes bound of the staging memory of all clients together; 0 for {@link NativeAgent#STAGING_BYTES}
 * @param protocols transports towards storage nodes; empty for all, shared memory preferred
 * @param connectTimeout bound of a connection attempt; null for 3 s
 * @param transferTimeout a transfer without progress for this long fails; null for 30 s
 * @param product product version told to peers; null for that of the library
 * @param tls certificates and what is demanded of peers on TCP
 */
public record AgentParameters(
        String masters,
        Path socket,
        String abstractSocket,
        String name,
        long stagingBytes,
        Set<Protocol> protocols,
        Duration connectTimeout,
        Duration transferTimeout,
        String product,
        TlsParameters tls) {

    public AgentParameters {
        Objects.requireNonNull(masters, "masters");
        Objects.requireNonNull(socket, "socket");
        Objects.requireNonNull(tls, "tls");
        protocols = Set.copyOf(protocols);
    }

    void writeTo(Struct struct) {
        struct.u32("protocols", Protocol.bits(protocols))
                .text("masters", Arguments.text("masters", masters))
                .text("socket_path", socket.toString())
                .text("abstract_socket", Arguments.text("abstract socket", abstractSocket))
                .text("name", Arguments.text("agent name", name))
                .text("product", Arguments.text("product version", product))
                .u64("staging_bytes", Arguments.bytes("staging size", stagingBytes))
                .u32("connect_timeout_ms", Arguments.milliseconds("connect timeout", connectTimeout))
                .u32("transfer_timeout_ms", Arguments.milliseconds("transfer timeout", transferTimeout));
        tls.writeTo(struct);
    }
}
