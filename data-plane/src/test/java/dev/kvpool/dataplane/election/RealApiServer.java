// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import io.fabric8.kubeapitest.KubeAPIServer;
import io.fabric8.kubeapitest.KubeAPIServerConfigBuilder;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/** One API server for all tests of a JVM, since its start takes seconds; {@code make apiserver} fetches its binaries. */
public final class RealApiServer {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);

    private static Config config;

    private RealApiServer() {}

    /** How an administrator reaches it. */
    public static synchronized Config config() {
        if (config == null) {
            KubeAPIServer server = new KubeAPIServer(KubeAPIServerConfigBuilder.anAPIServerConfig()
                    .withTestDir(binaries().toString())
                    .withOfflineMode(true)
                    .withStartupTimeout((int) START_TIMEOUT.toMillis())
                    .build());
            startAlone(server);
            Runtime.getRuntime().addShutdownHook(new Thread(server::stop));
            config = Config.fromKubeconfig(server.getKubeConfigYaml());
        }
        return config;
    }

    /** Not while another JVM starts one, of the operator's tests too: the first start ever makes certificates for all. */
    private static void startAlone(KubeAPIServer server) {
        try (FileChannel file = FileChannel.open(
                        binaries().resolve("start.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock _ = file.lock()) {
            awaitTheNextDayIfNear();
            server.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A start that would be waited for past midnight fails at once: the library compares times of day. */
    private static void awaitTheNextDayIfNear() {
        Duration left = Duration.between(LocalTime.now(ZoneId.systemDefault()), LocalTime.MAX);
        if (left.compareTo(START_TIMEOUT) <= 0) {
            LockSupport.parkNanos(left.plusSeconds(1).toNanos());
        }
    }

    private static Path binaries() {
        return Optional.ofNullable(System.getenv("KUBE_API_TEST_DIR"))
                .map(Path::of)
                .orElse(Path.of(System.getProperty("user.home"), ".cache", "kvpool", "kubeapitest"));
    }
}
