// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.scale;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The operator as it is shipped: the program that `mvn package` leaves, in a process with the flags of the image. */
final class OperatorProcess implements AutoCloseable {
    private static final Path PROGRAM = Path.of("target", "quarkus-app", "quarkus-run.jar");
    private static final Duration END_LIMIT = Duration.ofSeconds(30);
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(10);

    private final Process process;
    private final int port;
    private final Path log;
    private final HttpClient http = HttpClient.newHttpClient();

    private OperatorProcess(Process process, int port, Path log) {
        this.process = process;
        this.port = port;
        this.log = log;
    }

    /**
     * Starts it.
     *
     * @param kubeconfig how it reaches the API server
     * @param user whose rights it has
     * @param jvmOptions flags of its JVM
     * @param log file for what it prints
     */
    static OperatorProcess start(Path kubeconfig, String user, String jvmOptions, Path log) throws IOException {
        if (!Files.exists(PROGRAM)) {
            throw new IllegalStateException(
                    "there is no " + PROGRAM.toAbsolutePath() + "; run mvn -pl operator -am package");
        }
        int port = freePort();
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        ProcessBuilder builder = new ProcessBuilder(java, "-jar", PROGRAM.toString());
        builder.environment()
                .putAll(Map.of(
                        "KUBECONFIG",
                        kubeconfig.toString(),
                        "KUBERNETES_IMPERSONATE_USERNAME",
                        user,
                        "JDK_JAVA_OPTIONS",
                        jvmOptions,
                        "MALLOC_ARENA_MAX",
                        "2",
                        "QUARKUS_HTTP_PORT",
                        Integer.toString(port),
                        "KVPOOL_INSTANCE",
                        "scale",
                        "KVPOOL_LEADER_ELECTION_NAMESPACE",
                        "kvpool-system"));
        builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        return new OperatorProcess(builder.start(), port, log);
    }

    /** What it answers at a path. @throws IllegalStateException when its process has ended */
    String get(String path) {
        if (!process.isAlive()) {
            throw new IllegalStateException(
                    "the operator has ended with status %d; see %s".formatted(process.exitValue(), log));
        }
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                    .timeout(ANSWER_LIMIT)
                    .build();
            return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** How it has spent its time in reconciliations so far. */
    Latencies latencies() {
        return Latencies.of(get("/q/metrics"));
    }

    /** Processor time it took so far. */
    Duration cpu() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** True when it says that it is ready. */
    boolean isUp() {
        try {
            return get("/q/health/ready").contains("\"status\": \"UP\"");
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    /** Resident memory in MiB: now, and the most it ever was. */
    String memory() throws IOException {
        return "%d MiB resident, %d at most".formatted(residentMib(), mib("VmHWM:"));
    }

    long residentMib() throws IOException {
        return mib("VmRSS:");
    }

    private long mib(String figure) throws IOException {
        return Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status")).stream()
                .filter(line -> line.startsWith(figure))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) >> 10)
                .findFirst()
                .orElseThrow();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(END_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
                throw new IllegalStateException("the operator did not end within " + END_LIMIT.toSeconds() + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        }
    }
}
