// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.Introduction;
import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Answer;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.wire.Role;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Optional;

/** Dials a master as a client would, says Hello, and leaves. */
final class MasterVisit {
    private static final int CONNECT_MS_MAX = 3000;
    private static final int ANSWER_MS_MAX = 3000;
    private static final String NAME = "kvpool-doctor";

    private final Hello hello;

    MasterVisit(Versions ours, long incarnation) {
        hello = new Hello(HandshakeMessage.MAGIC, Role.CLIENT, HandshakeMessage.ANY_POOL, incarnation, 0, ours, NAME);
    }

    MasterAnswer visit(HostPort address) {
        long began = System.nanoTime();
        try (Socket socket = new Socket()) {
            InetSocketAddress place = new InetSocketAddress(address.host(), address.port());
            if (place.isUnresolved()) {
                return failed(address, "its name is not known here", began);
            }
            socket.connect(place, CONNECT_MS_MAX);
            socket.setSoTimeout(ANSWER_MS_MAX);
            Answer answer = Introduction.exchange(socket, hello);
            return new MasterAnswer(address, Optional.of(answer), "", since(began));
        } catch (EOFException e) {
            return failed(address, "it closed the connection without an answer", began);
        } catch (IOException e) {
            return failed(address, e.getMessage() == null ? e.toString() : e.getMessage(), began);
        }
    }

    private static MasterAnswer failed(HostPort address, String why, long began) {
        return new MasterAnswer(address, Optional.empty(), why, since(began));
    }

    private static Duration since(long began) {
        return Duration.ofNanos(System.nanoTime() - began);
    }
}
