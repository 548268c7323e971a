// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.doctor.NodeAnswer.Way;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.nativelib.VersionRange;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real sockets of what is no storage node; real nodes are visited in {@code DoctorOnLocalPoolTest}. */
class NodeVisitsTest {
    private static final VersionRange ONE = new VersionRange(1, 1);
    private static final PeerVisit VISIT = new PeerVisit(new Versions("0.1.0", ONE, ONE, ONE), 7, Optional.empty());
    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir
    private Path directory;

    @Test
    void aPortWhereNobodyListensIsRefused() throws Exception {
        int free;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            free = socket.getLocalPort();
        }

        assertThat(visit(LONG, node("127.0.0.1:" + free, "")).tcp().way()).isEqualTo(Way.REFUSED);
    }

    @Test
    void whatIsNoNodeIsSomebodyElse() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread.ofVirtual().start(() -> play(server));

            NodeAnswer answer = visit(LONG, node("127.0.0.1:" + server.getLocalPort(), ""));

            assertThat(answer.tcp().way()).isEqualTo(Way.SOMEBODY_ELSE);
            assertThat(answer.tcp().cause()).contains("not from kvpool");
        }
    }

    @Test
    void whoSaysNothingIsSilentWhenTheTimeOfAllIsOver() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            NodeAnswer answer = visit(Duration.ofMillis(1), node("127.0.0.1:" + server.getLocalPort(), ""));

            assertThat(answer.tcp().way()).isEqualTo(Way.SILENT);
        }
    }

    @Test
    void aNameThatNobodyKnowsAndAnAddressThatIsNone() throws Exception {
        assertThat(visit(LONG, node("no-such-host.invalid:1", "")).tcp().way()).isEqualTo(Way.UNKNOWN_NAME);
        assertThat(visit(LONG, node("nonsense", "")).tcp().way()).isEqualTo(Way.UNKNOWN_NAME);
    }

    @Test
    void socketsOfThisMachineAreLookedAtAndThoseOfOthersAreNot() throws Exception {
        Path left = Files.createFile(directory.resolve("left.sock"));

        assertThat(shared("here:" + directory.resolve("none.sock"))).isEqualTo(Way.MISSING);
        assertThat(shared("here:" + left)).isEqualTo(Way.REFUSED);
        assertThat(shared("elsewhere:" + left)).isEqualTo(Way.NOT_TRIED);
        assertThat(shared("")).isEqualTo(Way.NOT_TRIED);
    }

    @Test
    void nodesThatAreNotThereAreNotVisited() throws Exception {
        StorageNode away = new StorageNode("b", 7, "away", "gone", "127.0.0.1:1", "");

        assertThat(new NodeVisits(VISIT, "here", LONG).visit(new PoolMap(UUID.randomUUID(), List.of(away))))
                .isEmpty();
    }

    private static Way shared(String sharedMemory) throws InterruptedException {
        return visit(LONG, node("nonsense", sharedMemory)).sharedMemory().way();
    }

    private static NodeAnswer visit(Duration atMost, StorageNode node) throws InterruptedException {
        return new NodeVisits(VISIT, "here", atMost)
                .visit(new PoolMap(UUID.randomUUID(), List.of(node)))
                .getFirst();
    }

    private static StorageNode node(String address, String sharedMemory) {
        return new StorageNode("a", 7, "ready", "", address, sharedMemory);
    }

    private static void play(ServerSocket server) {
        try (Socket socket = server.accept()) {
            socket.getInputStream().readNBytes(1);
            socket.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            socket.shutdownOutput();
            socket.getInputStream().readAllBytes();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
