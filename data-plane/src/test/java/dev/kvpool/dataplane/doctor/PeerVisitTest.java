// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.codec.MessageEncoder;
import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Refused;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import dev.kvpool.nativelib.VersionRange;
import dev.kvpool.wire.RefusalCode;
import dev.kvpool.wire.Role;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.zip.CRC32C;
import org.agrona.ExpandableArrayBuffer;
import org.junit.jupiter.api.Test;

/** Real sockets; the master's side is played byte for byte. */
class PeerVisitTest {
    private static final VersionRange ONE = new VersionRange(1, 1);
    private static final Versions VERSIONS = new Versions("0.1.0", ONE, ONE, ONE);
    private static final Welcome WELCOME = new Welcome(Role.MASTER, UUID.randomUUID(), 9, VERSIONS, 1, "master-0");

    @Test
    void aWelcomeAndARefusalAreReadAsTheyWereSent() throws Exception {
        Refused refused = new Refused(RefusalCode.WIRE_VERSION, new VersionRange(2, 3), "too old: \u00e9");

        assertThat(visit(frame(WELCOME)).answer()).hasValue(WELCOME);
        assertThat(visit(frame(refused)).answer()).hasValue(refused);
    }

    @Test
    void anAnswerThatIsCutOffAnywhereIsAFailureWithACause() throws Exception {
        byte[] whole = frame(WELCOME);

        for (int length = 0; length < whole.length; length++) {
            PeerAnswer answer = visit(Arrays.copyOf(whole, length));
            assertThat(answer.answer()).as("after %d bytes", length).isEmpty();
            assertThat(answer.failure()).isEqualTo("it closed the connection without an answer");
        }
    }

    @Test
    void anAnswerWhoseBodyIsShorterThanItSaysIsAFailure() throws Exception {
        byte[] whole = frame(WELCOME);

        for (int length = 0; length < whole.length - 8; length++) {
            byte[] body = Arrays.copyOfRange(whole, 8, 8 + length);
            assertThat(visit(frame(body)).answer()).as("%d bytes", length).isEmpty();
        }
    }

    @Test
    void whatIsNotKvpoolIsToldSo() throws Exception {
        assertThat(visit("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII))
                        .failure())
                .contains("not from kvpool");
        byte[] damaged = frame(WELCOME);
        damaged[damaged.length - 1] ^= 1;
        assertThat(visit(damaged).failure()).contains("checksum");
        assertThat(visit(frame(new Heartbeat())).failure()).contains("answers no Hello");
    }

    @Test
    void nobodyThereAndNoSuchNameAreFailures() throws Exception {
        int free;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            free = socket.getLocalPort();
        }
        PeerVisit visit = new PeerVisit(VERSIONS, 7, Optional.empty());

        assertThat(visit.master(HostPort.parse("127.0.0.1:" + free)).failure()).contains("refused");
        assertThat(visit.master(HostPort.parse("no-such-host.invalid:1")).failure())
                .contains("name is not known");
    }

    private static PeerAnswer visit(byte[] answer) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> played = CompletableFuture.runAsync(() -> play(server, answer));
            PeerAnswer seen = new PeerVisit(VERSIONS, 7, Optional.empty())
                    .master(HostPort.parse("127.0.0.1:" + server.getLocalPort()));
            played.join();
            return seen;
        }
    }

    private static void play(ServerSocket server, byte[] answer) {
        try (Socket socket = server.accept()) {
            byte[] head = socket.getInputStream().readNBytes(4);
            int length = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getInt();
            socket.getInputStream().readNBytes(length + 4);
            socket.getOutputStream().write(answer);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] frame(HandshakeMessage message) {
        ExpandableArrayBuffer body = new ExpandableArrayBuffer();
        int length = new MessageEncoder().encode(message, body);
        return frame(Arrays.copyOf(body.byteArray(), length));
    }

    private static byte[] frame(byte[] body) {
        CRC32C crc = new CRC32C();
        crc.update(body, 0, body.length);
        return ByteBuffer.allocate(8 + body.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(body.length)
                .putInt((int) crc.getValue())
                .put(body)
                .array();
    }
}
