// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.identity.name.Principal;
import dev.kvpool.identity.peer.PeerCheck;
import dev.kvpool.identity.peer.PoolTls;
import dev.kvpool.identity.peer.Refusal;
import dev.kvpool.identity.peer.RefusedPeerException;
import dev.kvpool.wire.Verb;
import java.io.IOException;
import java.net.Socket;
import java.time.Instant;
import java.util.Arrays;
import javax.net.ssl.SSLSocket;

/** Makes a blocking connection to a member of the pool a TLS connection. */
public final class TlsDial {
    private TlsDial() {}

    /**
     * Shakes hands, within the socket's time-out for each read.
     *
     * @param verbs of which the other side may do one
     * @return a socket around {@code connected}; closing it closes both
     * @throws IOException when the handshake fails, or somebody else is there
     */
    public static Socket over(Socket connected, TlsContext tls, Verb... verbs) throws IOException {
        SSLSocket socket =
                (SSLSocket) tls.context().getSocketFactory().createSocket(connected, null, connected.getPort(), true);
        try {
            socket.setSSLParameters(PoolTls.parameters());
            socket.setUseClientMode(true);
            socket.startHandshake();
            Principal peer = PeerCheck.principal(
                    socket.getSession(),
                    tls.credentials().name(),
                    tls.credentials().foreign(),
                    Instant.now());
            if (Arrays.stream(verbs).noneMatch(verb -> Rights.allow(peer.name(), verb))) {
                throw new RefusedPeerException(
                        Refusal.ROLE, "the other side is " + peer + ", which is not who was meant");
            }
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
