// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A storage node of the real library; no master answers, so it goes on dialling. */
class NativeNodeTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final long SEGMENT_BYTES = 32L << 20;
    private static final String NO_MASTER = "127.0.0.1:1";

    @TempDir
    Path dir;

    @Test
    void listensAndTellsItsState() throws IOException {
        try (NativeNode node = NativeNode.start(parameters("node-0", NO_MASTER, dir, SEGMENT_BYTES, 0))) {
            NativeStats stats = node.stats();

            assertThat(stats.get("listen_port")).isPositive();
            assertThat(stats.get("incarnation")).isNotZero();
            assertThat(stats.get("capacity_bytes")).isBetween(SEGMENT_BYTES / 2, SEGMENT_BYTES);
            assertThat(stats.get("masters_total")).isEqualTo(1);
            assertThat(stats.get("masters_connected")).isZero();
            assertThat(stats.get("objects")).isZero();
            assertThat(stats.is("fenced")).isFalse();
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), (int) stats.get("listen_port"))) {
                assertThat(socket.isConnected()).isTrue();
            }
        }
    }

    @Test
    void leavesItsSegmentFileAndStartsOnItAgain() {
        NodeParameters parameters = parameters("node-0", NO_MASTER, dir, SEGMENT_BYTES, 0);
        long first;
        try (NativeNode node = NativeNode.start(parameters)) {
            first = node.stats().get("incarnation");
        }

        assertThat(dir.resolve("segment-0.kvs")).exists();
        try (NativeNode node = NativeNode.start(parameters)) {
            assertThat(node.stats().get("incarnation")).isNotEqualTo(first);
            assertThat(node.stats().get("dropped_records")).isZero();
        }
    }

    @Test
    void twoNodesCannotShareASegment() {
        NodeParameters parameters = parameters("node-0", NO_MASTER, dir, SEGMENT_BYTES, 0);
        try (NativeNode node = NativeNode.start(parameters)) {
            assertThat(node.stats().get("listen_port")).isPositive();

            assertFails(parameters, Status.SEGMENT_IN_USE, "segment-0.kvs");
        }
    }

    @Test
    void aPortInUseIsNamed() throws IOException {
        try (ServerSocket taken = new ServerSocket(0)) {
            assertFails(
                    parameters("node-0", NO_MASTER, dir, SEGMENT_BYTES, taken.getLocalPort()),
                    Status.IO,
                    Integer.toString(taken.getLocalPort()));
        }
    }

    @Test
    void aMissingDirectoryIsNamed() {
        assertFails(parameters("node-0", NO_MASTER, dir.resolve("absent"), SEGMENT_BYTES, 0), Status.IO, "absent");
    }

    @Test
    void aSegmentThatIsTooSmallIsRefusedWithTheLeastSize() {
        assertFails(parameters("node-0", NO_MASTER, dir, 4096, 0), Status.INVALID_ARGUMENT, "segment", "16");
    }

    @Test
    void anEmptyOrEndlessNodeIdIsRefused() {
        assertFails(parameters("", NO_MASTER, dir, SEGMENT_BYTES, 0), Status.INVALID_ARGUMENT, "node");
        assertFails(parameters("n".repeat(254), NO_MASTER, dir, SEGMENT_BYTES, 0), Status.INVALID_ARGUMENT, "253");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "localhost", "localhost:", "localhost:0", "localhost:65536", "localhost:x", "a:1,,b:2"})
    void aListOfMastersThatIsNoneIsRefused(String masters) {
        assertFails(parameters("node-0", masters, dir, SEGMENT_BYTES, 0), Status.INVALID_ARGUMENT, "masters");
    }

    @Test
    void aDamagedSegmentIsSetAside() throws IOException {
        Files.write(dir.resolve("segment-0.kvs"), new byte[8192]);

        try (NativeNode node = NativeNode.start(parameters("node-0", NO_MASTER, dir, SEGMENT_BYTES, 0))) {
            assertThat(node.stats().get("objects")).isZero();
            assertThat(node.stats().get("damaged_files_set_aside")).isEqualTo(1);
            assertThat(node.stats().get("foreign_files_set_aside")).isZero();
            assertThat(node.stats().get("set_aside_bytes")).isEqualTo(8192);
        }

        try (var files = Files.list(dir)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .anyMatch(name -> name.startsWith("segment-0.kvs.set-aside-damaged-"));
        }
        try (NativeNode again = NativeNode.start(parameters("node-0", NO_MASTER, dir, SEGMENT_BYTES, 0))) {
            assertThat(again.stats().get("damaged_files_set_aside"))
                    .as("it still lies there")
                    .isEqualTo(1);
        }
    }

    private static void assertFails(NodeParameters parameters, Status status, String... parts) {
        assertThatThrownBy(() -> NativeNode.start(parameters).close())
                .hasMessageContainingAll(parts)
                .hasMessageContaining(status.nativeName())
                .extracting("status")
                .isEqualTo(status);
    }

    private static NodeParameters parameters(String id, String masters, Path dir, long segmentBytes, int port) {
        Set<Protocol> protocols = EnumSet.of(Protocol.TCP, Protocol.SHM);
        Duration timeout = Duration.ofSeconds(1);
        return new NodeParameters(
                POOL,
                id,
                masters,
                null,
                port,
                "127.0.0.1",
                dir,
                segmentBytes,
                protocols,
                timeout,
                timeout,
                null,
                "0.1.0",
                "",
                0,
                "",
                true,
                false,
                "",
                0,
                "",
                0,
                "",
                TlsParameters.OFF,
                Payloads.ENCRYPTED,
                false);
    }
}
