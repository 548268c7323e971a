// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import dev.kvpool.dataplane.secure.HandshakeBounds;
import dev.kvpool.dataplane.secure.RemoteNetwork;
import java.net.InetAddress;
import java.util.Optional;

/**
 * Connections to an HTTPS port from their first byte until their first request is there, which is when the server says first and last who it is that
 * connects. All of this happens on one thread for each connection.
 */
final class UnknownCallers {
    private static final ThreadLocal<RemoteNetwork> OPEN = new ThreadLocal<>();

    private final HandshakeBounds bounds;

    UnknownCallers(HandshakeBounds bounds) {
        this.bounds = bounds;
    }

    /** The thread begins a handshake; else the bound that is reached, for people. */
    Optional<String> begin(InetAddress address) {
        RemoteNetwork from = RemoteNetwork.of(address);
        Optional<String> reached = bounds.begin(from);
        if (reached.isEmpty()) {
            OPEN.set(from);
        }
        return reached;
    }

    /** A certificate or token of this address is believed. */
    void authenticated(InetAddress address) {
        bounds.authenticated(RemoteNetwork.of(address));
    }

    /** The request of the thread is there, or does not come any more. */
    void end() {
        RemoteNetwork from = OPEN.get();
        if (from != null) {
            OPEN.remove();
            bounds.end(from);
        }
    }
}
