// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A Prometheus on this machine, with a configuration of its own. */
public final class Prometheus implements AutoCloseable {
    private static final Duration ANSWER = Duration.ofSeconds(20);
    private static final Duration END = Duration.ofSeconds(20);

    private final Process process;
    private final Path log;
    private final URI address;
    private final HttpClient http = HttpClient.newHttpClient();

    private Prometheus(Process process, Path log, URI address) {
        this.process = process;
        this.log = log;
        this.address = address;
    }

    /**
     * Starts it; it answers a moment later.
     *
     * @param program the file
     * @param folder with {@code prometheus.yml}; data and log are put there
     */
    public static Prometheus start(Path program, Path folder) {
        try {
            int port = freePort();
            Path log = folder.resolve("prometheus.log");
            Process process = new ProcessBuilder(
                            program.toString(),
                            "--config.file=" + folder.resolve("prometheus.yml"),
                            "--storage.tsdb.path=" + folder.resolve("data"),
                            "--web.listen-address=127.0.0.1:" + port)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            return new Prometheus(process, log, URI.create("http://127.0.0.1:" + port));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + program, e);
        }
    }

    /**
     * Asks its HTTP API.
     *
     * @param path as {@code api/v1/targets}
     * @param parameters of the query
     * @return field {@code data} of the answer
     * @throws IllegalStateException when it refuses, or has ended
     */
    public JsonNode ask(String path, Map<String, String> parameters) {
        String query = parameters.entrySet().stream()
                .map(pair -> pair.getKey() + "=" + URLEncoder.encode(pair.getValue(), StandardCharsets.UTF_8))
                .collect(Collectors.joining("&"));
        HttpRequest request = HttpRequest.newBuilder(address.resolve("/" + path + "?" + query))
                .timeout(ANSWER)
                .build();
        try {
            if (!process.isAlive()) {
                throw new IllegalStateException("Prometheus has ended: " + Files.readString(log));
            }
            HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() != 200) {
                throw new IllegalStateException(
                        "%s answered %d: %s".formatted(request.uri(), response.statusCode(), response.body()));
            }
            return new ObjectMapper().readTree(response.body()).path("data");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot ask " + request.uri(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while asking Prometheus", e);
        }
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(END.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        }
        http.close();
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
