// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.dataplane.secure.TlsDial;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.Introduction;
import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Answer;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.wire.Role;
import dev.kvpool.wire.Verb;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/** Dials a master or a storage node as a client would, says Hello, and leaves. */
final class PeerVisit {
    private static final int CONNECT_MS_MAX = 3000;
    private static final int ANSWER_MS_MAX = 3000;
    private static final String NAME = "kvpool-doctor";

    private final Versions ours;
    private final long incarnation;
    private final Optional<TlsContext> tls;

    /** @param tls with which ports are dialled, unless they are plain */
    PeerVisit(Versions ours, long incarnation, Optional<TlsContext> tls) {
        this.tls = tls;
        this.ours = ours;
        this.incarnation = incarnation;
    }

    PeerAnswer master(HostPort address) {
        return visit(address, hello(HandshakeMessage.ANY_POOL, 0), Verb.LEAD);
    }

    /** @param expected incarnation of the node that is to be there */
    PeerAnswer node(HostPort address, UUID poolId, long expected) {
        // Engines and agents contribute memory too.
        return visit(address, hello(poolId, expected), Verb.SERVE, Verb.CONTRIBUTE);
    }

    /**
     * The same by the unix socket through which a node shares its memory. Has no time limit of its own, but can be
     * interrupted.
     *
     * @throws IOException why it cannot be connected to, or what is wrong with the answer
     */
    Answer sharedMemory(Path socket, UUID poolId, long expected) throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(socket));
            return Introduction.exchange(
                    Channels.newInputStream(channel), Channels.newOutputStream(channel), hello(poolId, expected));
        }
    }

    private Hello hello(UUID poolId, long expected) {
        return new Hello(HandshakeMessage.MAGIC, Role.CLIENT, poolId, incarnation, expected, ours, NAME);
    }

    private PeerAnswer visit(HostPort address, Hello hello, Verb... verbs) {
        long began = System.nanoTime();
        try (Socket socket = new Socket()) {
            InetSocketAddress place = new InetSocketAddress(address.host(), address.port());
            if (place.isUnresolved()) {
                return failed(address, "its name is not known here", began);
            }
            socket.connect(place, CONNECT_MS_MAX);
            socket.setSoTimeout(ANSWER_MS_MAX);
            Socket spoken = tls.isPresent() ? TlsDial.over(socket, tls.get(), verbs) : socket;
            Answer answer = Introduction.exchange(spoken.getInputStream(), spoken.getOutputStream(), hello);
            return new PeerAnswer(address, Optional.of(answer), "", since(began));
        } catch (EOFException e) {
            return failed(address, "it closed the connection without an answer", began);
        } catch (IOException e) {
            return failed(address, e.getMessage() == null ? e.toString() : e.getMessage(), began);
        }
    }

    private static PeerAnswer failed(HostPort address, String why, long began) {
        return new PeerAnswer(address, Optional.empty(), why, since(began));
    }

    private static Duration since(long began) {
        return Duration.ofNanos(System.nanoTime() - began);
    }
}
