// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.dataplane.secure.TlsDial;
import dev.kvpool.dataplane.wire.Handshake;
import dev.kvpool.dataplane.wire.Introduction;
import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Refused;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import dev.kvpool.wire.RefusalCode;
import dev.kvpool.wire.Role;
import dev.kvpool.wire.Verb;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.Optional;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;

/** Dials a master that others say has crashed, to see for oneself. Blocks for a second or so at most, DNS aside. */
public final class LeaderProbe {
    /** What a dial has found. */
    public enum Finding {
        /** Nobody listens there, or another process. */
        GONE,
        /** It answered. */
        THERE,
        /** No answer in time, or one that says nothing. */
        UNKNOWN
    }

    private static final int ANSWER_MS_MAX = 500;

    /** A dying process may still accept connections for a moment, and drop them. */
    private static final int DIALS_MAX = 5;

    private static final long BETWEEN_DIALS_MS = 10;

    private final Handshake.Self self;
    private final Supplier<Optional<TlsContext>> tls;

    /** @param tls with which masters are dialled; empty: plain */
    LeaderProbe(Handshake.Self self, Supplier<Optional<TlsContext>> tls) {
        this.self = self;
        this.tls = tls;
    }

    /** Looks for the process with this incarnation at {@code address}, HOST:PORT. */
    Finding look(String address, long incarnation) throws InterruptedException {
        Finding finding = Finding.UNKNOWN;
        try {
            HostPort place = HostPort.parse(address);
            for (InetAddress each : InetAddress.getAllByName(place.host())) {
                finding = look(new InetSocketAddress(each, place.port()), incarnation);
                if (finding != Finding.GONE) {
                    return finding;
                }
            }
        } catch (IllegalArgumentException | IOException e) {
            return Finding.UNKNOWN;
        }
        return finding;
    }

    private Finding look(InetSocketAddress address, long incarnation) throws InterruptedException {
        for (int dial = 0; dial < DIALS_MAX; dial++) {
            try (Socket socket = new Socket()) {
                socket.connect(address, ANSWER_MS_MAX);
                socket.setSoTimeout(ANSWER_MS_MAX);
                Optional<TlsContext> secure = tls.get();
                return ask(secure.isPresent() ? TlsDial.over(socket, secure.get(), Verb.LEAD) : socket, incarnation);
            } catch (ConnectException e) {
                // Within this time only a refusal ends so: the system's own time-out takes longer.
                return Finding.GONE;
            } catch (SocketTimeoutException e) {
                return Finding.UNKNOWN;
            } catch (IOException e) {
                if (!isDropped(e)) {
                    return Finding.UNKNOWN;
                }
                Thread.sleep(BETWEEN_DIALS_MS);
            }
        }
        return Finding.UNKNOWN;
    }

    private static boolean isDropped(IOException e) {
        return e instanceof EOFException
                || e instanceof SocketException
                || (e instanceof SSLException
                        && (e.getCause() instanceof EOFException || e.getCause() instanceof SocketException));
    }

    /** A master that is not the incarnation we expect says so. */
    private Finding ask(Socket socket, long incarnation) throws IOException {
        Hello hello = new Hello(
                HandshakeMessage.MAGIC,
                Role.CLIENT,
                self.poolId(),
                self.incarnation(),
                incarnation,
                self.versions(),
                self.name());
        return switch (Introduction.exchange(socket.getInputStream(), socket.getOutputStream(), hello)) {
            case Welcome _ -> Finding.THERE;
            case Refused refused -> refused.code() == RefusalCode.IDENTITY_MISMATCH ? Finding.GONE : Finding.UNKNOWN;
        };
    }
}
