// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntPredicate;

/** Asks masters over their admin HTTP endpoint. */
public final class HttpMasterClient implements MasterClient {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(1);
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(2);

    /** A leader lets clients that wait have their answers before it hands over. */
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(8);

    private static final int NOT_FOUND = 404;

    private static final int SENTENCE_CHARS_MAX = 300;

    /** About 10,000 storage nodes; more is not a pool report. */
    private static final int ANSWER_BYTES_MAX = 4 << 20;

    private final int port;
    private final ObjectMapper json = new ObjectMapper();
    private final HttpClient http = HttpClient.newBuilder()
            .connectTimeout(CONNECT_TIMEOUT)
            .executor(Executors.newVirtualThreadPerTaskExecutor())
            .build();

    /**
     * Makes a client.
     *
     * @param port admin port of masters
     */
    public HttpMasterClient(int port) {
        this.port = port;
    }

    @Override
    public Map<String, MasterAnswer> ask(Map<String, String> addresses) {
        Map<String, CompletableFuture<MasterAnswer>> pending = new LinkedHashMap<>();
        addresses.forEach((pod, address) -> pending.put(pod, askOne(address)));
        long deadlineNanos = System.nanoTime() + ANSWER_TIMEOUT.toNanos();
        Map<String, MasterAnswer> answers = new LinkedHashMap<>();
        pending.forEach((pod, answer) -> answers.put(pod, await(answer, deadlineNanos)));
        return answers;
    }

    @Override
    public Optional<String> handOver(String address) {
        return post(address, MasterPaths.HAND_OVER);
    }

    @Override
    public void leaderGone(List<String> addresses, String holder, long epoch, String leader) {
        String path = MasterPaths.leaderGone(holder, epoch, leader);
        CompletableFuture<?>[] told = addresses.stream()
                .map(address -> HttpRequest.newBuilder(uri(address, path))
                        .POST(HttpRequest.BodyPublishers.noBody())
                        .timeout(ANSWER_TIMEOUT)
                        .build())
                .map(request -> http.sendAsync(request, HttpResponse.BodyHandlers.discarding()))
                .toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(told)
                .completeOnTimeout(null, ANSWER_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
                .exceptionally(failed -> null)
                .join();
    }

    @Override
    public Optional<String> finalise(String address, int wire, int layout, boolean ignoreClients) {
        return post(address, MasterPaths.finalise(wire, layout, ignoreClients));
    }

    @Override
    public Optional<String> drain(String address, String node, Duration timeout) {
        return post(address, MasterPaths.drain(node, timeout));
    }

    @Override
    public Optional<String> clear(String address, String node, Duration timeout) {
        return post(address, MasterPaths.clear(node, timeout));
    }

    @Override
    public Optional<String> cancelDrain(String address, String node) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(uri(address, MasterPaths.drain(node))).DELETE();
        return command(request, status -> status / 100 == 2 || status == NOT_FOUND);
    }

    private Optional<String> post(String address, String pathAndQuery) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(uri(address, pathAndQuery)).POST(HttpRequest.BodyPublishers.noBody());
        return command(request, status -> status / 100 == 2);
    }

    private Optional<String> command(HttpRequest.Builder request, IntPredicate done) {
        try {
            HttpResponse<String> response =
                    http.send(request.timeout(COMMAND_TIMEOUT).build(), HttpResponse.BodyHandlers.ofString());
            return done.test(response.statusCode())
                    ? Optional.empty()
                    : Optional.of("it answered with HTTP status " + response.statusCode() + ": "
                            + shortened(response.body().strip()));
        } catch (IOException e) {
            return Optional.of(sentence(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of("the operator is stopping");
        }
    }

    private URI uri(String address, String pathAndQuery) {
        String host = address.contains(":") ? "[" + address + "]" : address;
        return URI.create("http://" + host + ":" + port + pathAndQuery);
    }

    private static String shortened(String text) {
        return text.length() <= SENTENCE_CHARS_MAX ? text : text.substring(0, SENTENCE_CHARS_MAX);
    }

    private CompletableFuture<MasterAnswer> askOne(String address) {
        HttpRequest request = HttpRequest.newBuilder(uri(address, MasterPaths.POOL))
                .timeout(ANSWER_TIMEOUT)
                .header("Accept", "application/json")
                .build();
        return http.sendAsync(request, HttpResponse.BodyHandlers.ofInputStream())
                .thenApply(this::read);
    }

    private MasterAnswer read(HttpResponse<InputStream> response) {
        try (InputStream body = response.body()) {
            if (response.statusCode() != 200) {
                return new MasterAnswer.Silent("it answered with HTTP status " + response.statusCode());
            }
            byte[] bytes = body.readNBytes(ANSWER_BYTES_MAX + 1);
            if (bytes.length > ANSWER_BYTES_MAX) {
                return new MasterAnswer.Silent("its answer is longer than " + ANSWER_BYTES_MAX + " bytes");
            }
            return new MasterAnswer.Report(json.readValue(bytes, PoolReport.class));
        } catch (JacksonException e) {
            return new MasterAnswer.Silent("its answer is not a pool report: " + e.getOriginalMessage());
        } catch (IOException e) {
            return new MasterAnswer.Silent("its answer was cut off: " + e.getMessage());
        }
    }

    private static MasterAnswer await(CompletableFuture<MasterAnswer> pending, long deadlineNanos) {
        try {
            return pending.get(Math.max(0, deadlineNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            pending.cancel(true);
            return new MasterAnswer.Silent("it did not answer within " + ANSWER_TIMEOUT.toSeconds() + " s");
        } catch (ExecutionException e) {
            return new MasterAnswer.Silent(sentence(e.getCause()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new MasterAnswer.Silent("the operator is stopping");
        }
    }

    private static String sentence(Throwable cause) {
        return cause.getMessage() == null ? "the connection failed" : "the connection failed: " + cause.getMessage();
    }
}
