// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;

/**
 * What a client needs to connect.
 *
 * @param masters every master as {@code HOST:PORT}, separated by commas, in any order
 * @param name shown in logs of masters and nodes; null for the host name
 * @param protocols transports to use; empty for all, shared memory preferred
 * @param connectTimeout bound of a connection attempt; null for 3 s
 * @param transferTimeout a transfer without progress for this long fails; null for 30 s
 * @param readyTimeout how long connecting waits for a serving leader; null for 20 s
 * @param idleTimeout a connection to a storage node that nobody used for this long ends, until the next use; null for
 *     5 min
 * @param product product version told to peers; null for that of the library
 * @param tls certificates and what is demanded of peers on TCP
 */
public record ClientParameters(
        String masters,
        String name,
        Set<Protocol> protocols,
        Duration connectTimeout,
        Duration transferTimeout,
        Duration readyTimeout,
        Duration idleTimeout,
        String product,
        TlsParameters tls) {

    public ClientParameters {
        Objects.requireNonNull(masters, "masters");
        Objects.requireNonNull(tls, "tls");
        protocols = Set.copyOf(protocols);
    }

    /** All transports and every default. */
    public static ClientParameters of(String masters) {
        return new ClientParameters(masters, null, Set.of(), null, null, null, null, null, TlsParameters.OFF);
    }

    void writeTo(Struct struct) {
        struct.text("masters", Arguments.text("masters", masters))
                .text("name", Arguments.text("client name", name))
                .u32("protocols", Protocol.bits(protocols))
                .u32("connect_timeout_ms", Arguments.milliseconds("connect timeout", connectTimeout))
                .u32("transfer_timeout_ms", Arguments.milliseconds("transfer timeout", transferTimeout))
                .u32("ready_timeout_ms", Arguments.milliseconds("ready timeout", readyTimeout))
                .u32("idle_timeout_ms", Arguments.milliseconds("idle timeout", idleTimeout))
                .text("product", Arguments.text("product version", product));
        tls.writeTo(struct);
    }
}
