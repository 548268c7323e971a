// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.identity.name.PeerRole;
import dev.kvpool.identity.peer.PeerCheck;
import dev.kvpool.identity.peer.PoolTls;
import dev.kvpool.identity.peer.RefusedPeerException;
import java.io.IOException;
import java.net.Socket;
import java.time.Instant;
import javax.net.ssl.SSLSocket;

/** Makes a blocking connection to a member of the pool a TLS connection. */
public final class TlsDial {
    private TlsDial() {}

    /**
     * Shakes hands, within the socket's time-out for each read.
     *
     * @param roles the other side may have
     * @return a socket around {@code connected}; closing it closes both
     * @throws IOException when the handshake fails, or somebody else is there
     */
    public static Socket over(Socket connected, TlsContext tls, PeerRole... roles) throws IOException {
        SSLSocket socket =
                (SSLSocket) tls.context().getSocketFactory().createSocket(connected, null, connected.getPort(), true);
        try {
            socket.setSSLParameters(PoolTls.parameters());
            socket.setUseClientMode(true);
            socket.startHandshake();
            PeerCheck.requireRole(
                    PeerCheck.principal(
                            socket.getSession(),
                            tls.credentials().name(),
                            tls.credentials().foreign(),
                            Instant.now()),
                    roles);
            return socket;
        } catch (RefusedPeerException e) {
            socket.close();
            throw new IOException(e.getMessage(), e);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }
}
