// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.FreePort;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.cli.StopSignal;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.config.SettingsReader;
import dev.kvpool.dataplane.config.UsageException;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.nativelib.KvException;
import dev.kvpool.nativelib.Status;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The process around a node of the real library. No master answers, so it goes on dialling. */
class NodeProcessTest {
    private Path dir;

    @BeforeEach
    void makeDirectory() throws IOException {
        dir = Files.createTempDirectory(Path.of("/dev/shm"), "kvpool-test-");
    }

    @AfterEach
    void removeDirectory() throws IOException {
        Files.deleteIfExists(dir.resolve("segment-0.kvs"));
        Files.deleteIfExists(dir.resolve("shm.sock"));
        Files.delete(dir);
    }

    @Test
    void probesAndNumbersAreThereWithoutAMaster() throws Exception {
        try (NodeProcess node = NodeProcess.start(settings(Map.of()))) {
            assertThat(get(node, "/healthz").body()).isEqualTo("ok");
            assertThat(get(node, "/readyz").statusCode()).isEqualTo(503);
            assertThat(get(node, "/readyz").body()).isEqualTo("0 of 1 masters connected; dialling 127.0.0.1:1");
            assertThat(get(node, "/metrics").body())
                    .contains("kvpool_node_up 1.0", "kvpool_node_masters_configured 1.0");
            assertThat(get(node, "/api/v1/node").body())
                    .contains("\"objects\":0", "\"restored\":{\"objects\":0,\"idsHash\":\"0000000000000000\"");
            assertThat(get(node, "/version").body())
                    .isEqualTo(Versions.ofThisBuild().json());
            assertThat(dir.resolve("segment-0.kvs")).hasSize(32 << 20);

            node.announceStop();
            assertThat(get(node, "/readyz").body()).isEqualTo("stopping");
        }
        assertThat(dir.resolve("segment-0.kvs")).exists();
    }

    @Test
    void aNodeWhoseFileIsCutShortIsToldToBeRestarted() throws Exception {
        try (NodeProcess node = NodeProcess.start(settings(Map.of()))) {
            cutSegment();
            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(
                            () -> assertThat(get(node, "/healthz").statusCode()).isEqualTo(500));
            assertThat(get(node, "/healthz").body()).contains("restart this process");
            assertThat(get(node, "/readyz").statusCode()).isEqualTo(503);
        }
    }

    @Test
    void aNodeThatFailsEndsItsProcessWithACodeOfItsOwn() throws Exception {
        int port = FreePort.next();
        Settings settings = settings(Map.of("admin-port", Integer.toString(port)));
        Console console = new Console(System.in, System.out, System.err, new StopSignal());
        FutureTask<Integer> code = new FutureTask<>(() -> new StorageNodeCommand().run(settings, console));
        Thread.ofPlatform().start(code);
        await().ignoreExceptions()
                .untilAsserted(() -> assertThat(get(port, "/metrics").body()).contains("kvpool_node_up 1.0"));
        cutSegment();
        assertThat(code.get(20, TimeUnit.SECONDS)).isEqualTo(ExitCode.DEFECT);
    }

    @Test
    void anAdminPortInUseIsToldWithItsFlag() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());

            assertThatThrownBy(() -> start(Map.of("admin-port", port)))
                    .isInstanceOf(FailureException.class)
                    .hasMessageContainingAll(port, "--admin-port");
        }
    }

    @Test
    void aPortInUseIsToldAndTheAdminServerDoesNotStayBehind() throws Exception {
        int adminPort = FreePort.next();
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());

            assertThatThrownBy(() -> start(Map.of("port", port, "admin-port", Integer.toString(adminPort))))
                    .isInstanceOf(KvException.class)
                    .hasMessageContaining(port);
        }
        try (ServerSocket again = new ServerSocket(adminPort, 1, InetAddress.getLoopbackAddress())) {
            assertThat(again.isBound()).isTrue();
        }
    }

    @Test
    void twoNodesOnOneDirectoryAreRefused() throws Exception {
        try (NodeProcess node = NodeProcess.start(settings(Map.of()))) {
            assertThat(node.adminPort()).isPositive();
            assertThatThrownBy(() -> start(Map.of("node-id", "node-1")))
                    .isInstanceOf(KvException.class)
                    .extracting("status")
                    .isEqualTo(Status.SEGMENT_IN_USE);
        }
    }

    private void cutSegment() throws IOException {
        try (FileChannel file = FileChannel.open(dir.resolve("segment-0.kvs"), StandardOpenOption.WRITE)) {
            file.truncate(4096);
        }
    }

    private void start(Map<String, String> changes) throws FailureException, UsageException {
        NodeProcess.start(settings(changes)).close();
    }

    private Settings settings(Map<String, String> changes) throws UsageException {
        Map<String, String> flags = new HashMap<>(Map.of(
                "pool-id", "5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01",
                "node-id", "node-0",
                "masters", "127.0.0.1:1",
                "host", "127.0.0.1",
                "port", "0",
                "admin-port", "0",
                "advertise-host", "127.0.0.1",
                "data-dir", dir.toString(),
                "segment-size", "32MiB"));
        flags.putAll(changes);
        return new SettingsReader(flags, Map.of()).read(NodeSettings.ALL, List.of());
    }

    private static HttpResponse<String> get(NodeProcess node, String path) throws IOException, InterruptedException {
        return get(node.adminPort(), path);
    }

    private static HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI uri = URI.create("http://127.0.0.1:" + port + path);
            return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
        }
    }
}
