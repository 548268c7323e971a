// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.time.Duration;
import java.util.Objects;

/**
 * What a transfer engine needs to start.
 *
 * @param name shown in logs of peers; null for the host name
 * @param protocols in order of preference, separated by commas; the first that works is used, such as {@code rdma,tcp}
 * @param listenHost address to listen on; null for both address families
 * @param portMin first port of the range to listen in
 * @param portMax last port of it
 * @param connectTimeout until a dialled peer must have answered; null for 3 s
 * @param transferTimeout a connection without progress for this long ends; null for 30 s
 * @param idleTimeout a connection without use for this long ends; null for 5 min
 */
public record EngineParameters(
        String name,
        String protocols,
        String listenHost,
        int portMin,
        int portMax,
        Duration connectTimeout,
        Duration transferTimeout,
        Duration idleTimeout) {

    public EngineParameters {
        Objects.requireNonNull(protocols, "protocols");
    }

    /** tcp and every default. */
    public static EngineParameters standard() {
        return new EngineParameters(null, "tcp", null, NativeEngine.PORT_MIN, NativeEngine.PORT_MAX, null, null, null);
    }

    /** The same, listening on this address only. */
    public EngineParameters listeningOn(String host) {
        return new EngineParameters(
                name, protocols, host, portMin, portMax, connectTimeout, transferTimeout, idleTimeout);
    }

    void writeTo(Struct struct) {
        struct.text("name", Arguments.text("engine name", name))
                .text("protocols", Arguments.text("protocols", protocols))
                .text("listen_host", Arguments.text("listen host", listenHost))
                .u32("port_min", Arguments.port("first port", portMin))
                .u32("port_max", Arguments.port("last port", portMax))
                .u32("connect_timeout_ms", Arguments.milliseconds("connect timeout", connectTimeout))
                .u32("transfer_timeout_ms", Arguments.milliseconds("transfer timeout", transferTimeout))
                .u32("idle_timeout_ms", Arguments.milliseconds("idle timeout", idleTimeout));
    }
}
