// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.util.Objects;

/**
 * TLS of a node, a client or an agent on its TCP connections.
 *
 * @param directory with {@code tls.crt}, {@code tls.key} and {@code ca.crt}; empty for none
 */
public record TlsParameters(String directory, Mode mode) {
    /** Plain connections. */
    public static final TlsParameters OFF = new TlsParameters("", Mode.OFF);

    /** KV_TLS_* of kvpool.h. */
    public enum Mode {
        /** Plain connections only. */
        OFF(1),
        /** TLS is dialled; both are accepted. */
        PERMISSIVE(2),
        /** TLS only. */
        REQUIRED(3);

        private final int number;

        Mode(int number) {
            this.number = number;
        }
    }

    public TlsParameters {
        Objects.requireNonNull(directory, "directory");
        Objects.requireNonNull(mode, "mode");
    }

    void writeTo(Struct struct) {
        struct.text("tls_dir", Arguments.text("directory of certificates", directory.isEmpty() ? null : directory))
                .u32("tls_mode", mode.number);
    }
}
