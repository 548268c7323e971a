// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.prepare;

import dev.kvpool.operator.probe.HealthCheck;
import io.quarkus.runtime.Quarkus;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Has the operator in this process live through its start and a first pool, without a cluster, and ends it then: so that Java notes
 * which classes that takes ({@code -XX:AOTCacheOutput}), and later processes start from there. For image builds, which have no
 * network.
 */
public final class Rehearsal implements Runnable {
    private static final int LIMIT_SECONDS = 120;
    private static final int FAILED = 1;
    private static final String LOOPBACK = "127.0.0.1";

    private final EchoingApi api;
    private final int port;

    private Rehearsal(EchoingApi api, int port) {
        this.api = api;
        this.port = port;
    }

    /**
     * Sets up what the operator needs, for a start of it that follows; it will be ended from another thread.
     *
     * @throws IOException when there is no room for a file, or no port
     */
    public static void begin() throws IOException {
        EchoingApi api = EchoingApi.start(LOOPBACK);
        int port = freePort();
        Map.of(
                        "kubernetes.master",
                        api.url(),
                        "kubernetes.trust.certificates",
                        "true",
                        "quarkus.http.host",
                        LOOPBACK,
                        "quarkus.http.port",
                        Integer.toString(port))
                .forEach(System::setProperty);
        Thread.ofPlatform().daemon().name("rehearsal").start(new Rehearsal(api, port));
    }

    @Override
    public void run() {
        int status = FAILED;
        try {
            if (api.hasLedToAStatus(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                HealthCheck.ask("http://%s:%d/q/health".formatted(LOOPBACK, port));
                HealthCheck.ask("http://%s:%d/q/metrics".formatted(LOOPBACK, port));
                status = 0;
            } else {
                System.err.println("prepare: no pool got a status within " + LIMIT_SECONDS + " s");
            }
        } catch (IOException e) {
            System.err.println("prepare: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Quarkus.asyncExit(status);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
