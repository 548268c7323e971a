// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.config.SettingsReader;
import dev.kvpool.dataplane.config.UsageException;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.nativelib.KvException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The process around an agent of the real library. No master answers, so it goes on looking for one. */
class AgentProcessTest {
    @TempDir
    Path dir;

    @Test
    void probesAndNumbersAreThereWithoutAMaster() throws Exception {
        try (AgentProcess agent = AgentProcess.start(settings(Map.of()))) {
            assertThat(get(agent, "/healthz").body()).isEqualTo("ok");
            assertThat(get(agent, "/readyz").statusCode()).isEqualTo(503);
            assertThat(get(agent, "/health").statusCode()).isEqualTo(503);
            assertThat(get(agent, "/metrics/summary").body())
                    .isEqualTo("leader known: no | clients: 0 | staging: 0 of 4194304 bytes | requests: 0, running: 0"
                            + " | put: 0 bytes | get: 0 bytes | hits: 0 | misses: 0\n");
            assertThat(get(agent, "/metrics").body())
                    .contains("kvpool_agent_up 1.0", "kvpool_agent_staging_max_bytes 4194304.0");
            assertThat(get(agent, "/api/v1/agent").body())
                    .contains(
                            "\"socket\":\"" + dir.resolve("agent.sock") + "\"",
                            "\"leaderKnown\":false",
                            "\"staging\":{\"bytes\":0,\"maxBytes\":4194304}");
            assertThat(get(agent, "/version").body())
                    .isEqualTo(Versions.ofThisBuild().json());
            assertThat(dir.resolve("agent.sock")).exists();

            agent.announceStop();
            assertThat(get(agent, "/readyz").body()).isEqualTo("stopping");
            assertThat(get(agent, "/healthz").body()).isEqualTo("ok");
        }
        assertThat(dir.resolve("agent.sock")).doesNotExist();
    }

    @Test
    void anAdminPortInUseIsToldWithItsFlagAndNoSocketStaysBehind() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());

            assertThatThrownBy(() -> start(Map.of("admin-port", port)))
                    .isInstanceOf(FailureException.class)
                    .hasMessageContainingAll(port, "--admin-port");
        }
        assertThat(dir.resolve("agent.sock")).doesNotExist();
    }

    @Test
    void aDirectoryThatDoesNotDoIsToldWithItsFlag() throws IOException {
        Path missing = dir.resolve("missing");
        assertThatThrownBy(() -> start(Map.of("socket-dir", missing.toString())))
                .isInstanceOf(FailureException.class)
                .hasMessageContainingAll("--socket-dir", missing.toString(), "does not exist");

        Path file = Files.createFile(dir.resolve("file"));
        assertThatThrownBy(() -> start(Map.of("socket-dir", file.toString())))
                .isInstanceOf(FailureException.class)
                .hasMessageContainingAll("--socket-dir", "is no directory");

        Path tooLong = Files.createDirectory(dir.resolve("x".repeat(100)));
        assertThatThrownBy(() -> start(Map.of("socket-dir", tooLong.toString())))
                .isInstanceOf(FailureException.class)
                .hasMessageContainingAll("--socket-dir", "107");
    }

    @Test
    void aSecondAgentInTheDirectoryIsRefusedAndTheSocketOfADeadOneReplaced() throws Exception {
        try (AgentProcess agent = AgentProcess.start(settings(Map.of()))) {
            assertThat(agent.adminPort()).isPositive();
            assertThatThrownBy(() -> start(Map.of()))
                    .isInstanceOf(KvException.class)
                    .hasMessageContaining("another process listens");
        }
        Path socket = dir.resolve("agent.sock");
        try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            dead.bind(UnixDomainSocketAddress.of(socket)); // its file stays when it closes, as after SIGKILL
        }
        assertThat(socket).exists();
        start(Map.of());
    }

    @Test
    void badSettingsAreToldTogether() {
        assertThatThrownBy(() -> settings(Map.of("masters", "nonsense", "staging-size", "1KiB", "admin-port", "70000")))
                .isInstanceOf(UsageException.class)
                .hasMessageContainingAll("--masters", "--staging-size", "--admin-port");
    }

    private void start(Map<String, String> changes) throws FailureException, UsageException {
        AgentProcess.start(settings(changes)).close();
    }

    private Settings settings(Map<String, String> changes) throws UsageException {
        Map<String, String> flags = new HashMap<>(Map.of(
                "masters", "127.0.0.1:1",
                "socket-dir", dir.toString(),
                "staging-size", "4MiB",
                "host", "127.0.0.1",
                "admin-port", "0"));
        flags.putAll(changes);
        return new SettingsReader(flags, Map.of()).read(AgentSettings.ALL, List.of());
    }

    private static HttpResponse<String> get(AgentProcess agent, String path) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI uri = URI.create("http://127.0.0.1:" + agent.adminPort() + path);
            return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
        }
    }
}
