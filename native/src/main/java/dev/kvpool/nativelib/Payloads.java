// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

/** What becomes of connections with a storage node once both certificates are checked: KV_PAYLOADS_* of kvpool.h. */
public enum Payloads {
    /** TLS as long as they live. */
    ENCRYPTED(1),
    /** TLS ends behind the handshake where the peer takes that too; keys and values can be read and changed on the network. */
    AUTHENTICATED(2);

    private final int number;

    Payloads(int number) {
        this.number = number;
    }

    /** What the library is told; it wants nothing to be said where there is no TLS. */
    int number(TlsParameters tls) {
        return tls.mode() == TlsParameters.Mode.OFF ? 0 : number;
    }
}
