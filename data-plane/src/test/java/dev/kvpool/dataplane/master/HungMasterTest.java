// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.ChildJvm;
import dev.kvpool.dataplane.FreePort;
import dev.kvpool.dataplane.Kvpool;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.http.AdminAnswer;
import dev.kvpool.dataplane.http.AdminCaller;
import dev.kvpool.dataplane.wire.PeerSocket;
import dev.kvpool.wire.Role;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A master process of which only the core hangs: nobody reads the pipe of its log, which fills until the loop waits in the middle
 * of a line. Its other threads go on, and so do its sockets.
 */
class HungMasterTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a02");
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration ANSWER_MAX = Duration.ofSeconds(5);

    /** Each leaves a line; a pipe has room for 64 KiB. */
    private static final int CONNECTIONS = 2_000;

    @TempDir
    Path directory;

    private final List<Process> processes = new ArrayList<>();

    @AfterEach
    void kill() {
        processes.forEach(Process::destroyForcibly);
    }

    @Test
    void itIsFollowedSaysThatItIsIllAndEndsByItself() throws Exception {
        Files.writeString(directory.resolve("nodes"), "");
        int hungPort = FreePort.next();
        HostPort hungAdmin = new HostPort("127.0.0.1", FreePort.next());
        Process hung = start("m-0", hungPort, hungAdmin.port(), ProcessBuilder.Redirect.PIPE);
        await().atMost(PATIENCE).until(() -> !hung.isAlive() || role(hungAdmin).equals("leader"));
        assertThat(hung.isAlive())
                .as(() -> "it runs, and did not say: " + saidBy(hung))
                .isTrue();
        assertThat(get(hungAdmin, "/healthz").status()).isEqualTo(200);
        HostPort standby = new HostPort("127.0.0.1", FreePort.next());
        start(
                "m-1",
                FreePort.next(),
                standby.port(),
                ProcessBuilder.Redirect.appendTo(directory.resolve("m-1.log").toFile()));
        await().atMost(PATIENCE).until(() -> role(standby).equals("standby"));

        fillTheLog(hungPort);

        await().atMost(PATIENCE).until(() -> role(standby).equals("leader"));
        await().atMost(PATIENCE).until(() -> get(hungAdmin, "/healthz").status() == 503);
        assertThat(get(hungAdmin, "/healthz").body()).contains("the core of this master hangs");
        assertThat(get(hungAdmin, "/readyz").status()).isEqualTo(503);
        assertThat(role(hungAdmin)).isEqualTo("standby");
        assertThat(hung.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(hung.exitValue()).isEqualTo(ExitCode.DEFECT);
        assertThat(role(standby)).isEqualTo("leader");
    }

    private static String saidBy(Process ended) {
        try {
            return new String(ended.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Nodes that come and go, until the master answers no more. */
    private static void fillTheLog(int port) throws IOException {
        for (int i = 0; i < CONNECTIONS; i++) {
            try (PeerSocket node = new PeerSocket(port)) {
                node.send(
                        PeerSocket.hello(Role.NODE, POOL, "node-that-comes-and-goes-again-and-again-" + i % 8, i + 1));
                if (i % 50 == 49 && !answers(node)) {
                    return;
                }
            }
        }
        throw new AssertionError("the log took the lines of " + CONNECTIONS + " nodes");
    }

    private static boolean answers(PeerSocket node) {
        try {
            return node.receive().isPresent();
        } catch (IOException e) {
            return false;
        }
    }

    private Process start(String name, int port, int adminPort, ProcessBuilder.Redirect log) throws IOException {
        List<String> command = ChildJvm.command(Kvpool.class, ChildJvm.SMALL, ChildJvm.NATIVE);
        command.add("master");
        command.addAll(List.of("--pool-id", POOL.toString(), "--name", name, "--warm-up", "0s"));
        command.addAll(
                List.of("--expected-nodes-file", directory.resolve("nodes").toString()));
        command.addAll(List.of("--host", "127.0.0.1", "--port", Integer.toString(port)));
        command.addAll(List.of("--admin-port", Integer.toString(adminPort)));
        command.addAll(
                List.of("--lease", directory.resolve("lease.json").toUri().toString()));
        Process process = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(log)
                .start();
        processes.add(process);
        return process;
    }

    private static String role(HostPort admin) {
        return get(admin, "/role").body();
    }

    private static AdminAnswer get(HostPort admin, String path) {
        try {
            return AdminCaller.PLAIN.get(admin, path, ANSWER_MAX, ANSWER_MAX);
        } catch (IOException e) {
            return new AdminAnswer(0, e.toString(), Optional.empty());
        }
    }
}
