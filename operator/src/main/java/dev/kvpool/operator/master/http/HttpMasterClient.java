// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master.http;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.identity.peer.PoolTls;
import dev.kvpool.identity.peer.ServerTrust;
import dev.kvpool.identity.text.Quoted;
import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.MasterClient;
import dev.kvpool.operator.master.MasterEndpoint;
import dev.kvpool.operator.master.PoolReport;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;

/**
 * Asks masters over their admin endpoint: by HTTP, or by HTTPS where they are secure. There this side shows no certificate but a token, after the other
 * side has proved who it is.
 */
public final class HttpMasterClient implements MasterClient {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(1);
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(2);

    /** A leader lets clients that wait have their answers before it hands over. */
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(8);

    /** So that one whose answer does not begin in time is told from one whose answer does not end. */
    private static final Duration AFTER_HEAD = Duration.ofMillis(100);

    private static final int UNAUTHORIZED = 401;
    private static final int NOT_FOUND = 404;

    private static final int SENTENCE_BYTES_MAX = 1 << 10;

    /** About 10,000 storage nodes; more is not a pool report. */
    private static final int ANSWER_BYTES_MAX = 4 << 20;

    private static final HttpResponse.BodyHandler<byte[]> WHOLE_ANSWER =
            HttpResponse.BodyHandlers.limiting(HttpResponse.BodyHandlers.ofByteArray(), ANSWER_BYTES_MAX);

    /** An Authorization would not come through the API server, so masters have a header of their own for it. */
    private static final String TOKEN = "X-Kvpool-Token";

    private final int port;
    private final int securePort;
    private final PoolTokens tokens;
    private final MasterTrust trust = new MasterTrust();
    private final ObjectMapper json = new ObjectMapper();
    private final Executor threads = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpClient http;
    private final Duration answerTimeout;
    private final Duration commandTimeout;

    /**
     * Makes a client.
     *
     * @param port admin port of plain masters
     * @param securePort that of secure ones
     * @param tokens what it shows to secure ones
     */
    public HttpMasterClient(int port, int securePort, PoolTokens tokens) {
        this(port, securePort, tokens, CONNECT_TIMEOUT, ANSWER_TIMEOUT, COMMAND_TIMEOUT);
    }

    /**
     * As above.
     *
     * @param connectTimeout for a connection, with its handshake
     * @param answerTimeout for what a master knows already
     * @param commandTimeout for what it has to do first
     */
    HttpMasterClient(
            int port,
            int securePort,
            PoolTokens tokens,
            Duration connectTimeout,
            Duration answerTimeout,
            Duration commandTimeout) {
        this.port = port;
        this.securePort = securePort;
        this.tokens = tokens;
        this.answerTimeout = answerTimeout;
        this.commandTimeout = commandTimeout;
        this.http = HttpClient.newBuilder()
                .connectTimeout(connectTimeout)
                .version(HttpClient.Version.HTTP_1_1)
                .sslContext(ServerTrust.context(trust))
                .sslParameters(PoolTls.parameters())
                .executor(threads)
                .build();
    }

    @Override
    public Map<String, MasterAnswer> ask(Map<String, MasterEndpoint> masters) {
        Map<String, CompletableFuture<MasterAnswer>> pending = new LinkedHashMap<>();
        masters.forEach((pod, endpoint) -> pending.put(pod, askOne(endpoint)));
        long deadlineNanos = System.nanoTime() + answerTimeout.toNanos();
        Map<String, MasterAnswer> answers = new LinkedHashMap<>();
        pending.forEach((pod, answer) -> answers.put(pod, await(answer, deadlineNanos)));
        return answers;
    }

    @Override
    public Optional<String> handOver(MasterEndpoint leader) {
        return post(leader, MasterPaths.HAND_OVER);
    }

    @Override
    public void leaderGone(List<MasterEndpoint> standbys, String holder, long epoch, String leader) {
        String path = MasterPaths.leaderGone(holder, epoch, leader);
        CompletableFuture<?>[] told = standbys.stream()
                .map(standby ->
                        answer(() -> request(standby, path).POST(HttpRequest.BodyPublishers.noBody()), answerTimeout))
                .toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(told)
                .completeOnTimeout(null, answerTimeout.toMillis(), TimeUnit.MILLISECONDS)
                .exceptionally(failed -> null)
                .join();
    }

    @Override
    public Optional<String> finalise(MasterEndpoint leader, int wire, int layout, boolean ignoreClients) {
        return post(leader, MasterPaths.finalise(wire, layout, ignoreClients));
    }

    @Override
    public Optional<String> drain(MasterEndpoint leader, String node, Duration timeout) {
        return post(leader, MasterPaths.drain(node, timeout));
    }

    @Override
    public Optional<String> clear(MasterEndpoint leader, String node, Duration timeout) {
        return post(leader, MasterPaths.clear(node, timeout));
    }

    @Override
    public Optional<String> cancelDrain(MasterEndpoint leader, String node) {
        return command(
                leader,
                MasterPaths.drain(node),
                HttpRequest.Builder::DELETE,
                status -> status / 100 == 2 || status == NOT_FOUND);
    }

    private Optional<String> post(MasterEndpoint leader, String pathAndQuery) {
        return command(
                leader,
                pathAndQuery,
                request -> request.POST(HttpRequest.BodyPublishers.noBody()),
                status -> status / 100 == 2);
    }

    private Optional<String> command(
            MasterEndpoint leader, String pathAndQuery, UnaryOperator<HttpRequest.Builder> method, IntPredicate done) {
        try {
            HttpResponse<byte[]> response = answer(() -> method.apply(request(leader, pathAndQuery)), commandTimeout)
                    .get();
            return done.test(response.statusCode()) ? Optional.empty() : Optional.of(refusal(response));
        } catch (ExecutionException e) {
            return Optional.of(sentence(e.getCause()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of("the operator is stopping");
        }
    }

    /** The token is sent when the other side has proved who it is, and not before. */
    private HttpRequest.Builder request(MasterEndpoint master, String pathAndQuery) throws IOException {
        String host = master.host().contains(":") ? "[" + master.host() + "]" : master.host();
        if (master.identity().isEmpty()) {
            return HttpRequest.newBuilder(URI.create("http://" + host + ":" + port + pathAndQuery));
        }
        MasterEndpoint.Identity identity = master.identity().get();
        String authority;
        try {
            authority = trust.expect(master.host(), identity);
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
        return HttpRequest.newBuilder(URI.create("https://" + host + ":" + securePort + pathAndQuery))
                .header(TOKEN, tokens.token(PoolTokens.ofAuthority(identity.poolId(), authority)));
    }

    /**
     * The answer to a request for which a token may have to be asked for first. The timeout of a request ends with the head of its answer; a
     * body that comes in drops would hold its connection for ever.
     */
    private CompletableFuture<HttpResponse<byte[]>> answer(Callable<HttpRequest.Builder> request, Duration within) {
        return CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                return request.call().timeout(within).build();
                            } catch (Exception e) {
                                throw new CompletionException(e);
                            }
                        },
                        threads)
                .thenCompose(made -> {
                    CompletableFuture<HttpResponse<byte[]>> sent = http.sendAsync(made, WHOLE_ANSWER);
                    return sent.copy()
                            .orTimeout(within.plus(AFTER_HEAD).toMillis(), TimeUnit.MILLISECONDS)
                            .whenComplete((answer, failed) -> sent.cancel(true));
                });
    }

    /** With what the master says of it: which right is missing, what is wrong with the token. */
    private String refusal(HttpResponse<byte[]> response) {
        int status = response.statusCode();
        if (status == UNAUTHORIZED) {
            response.request().headers().firstValue(TOKEN).ifPresent(tokens::refused);
        }
        byte[] body = response.body();
        String said = new String(body, 0, Math.min(body.length, SENTENCE_BYTES_MAX), StandardCharsets.UTF_8).strip();
        return "it answered with HTTP status " + status + (said.isEmpty() ? "" : ": " + Quoted.cut(said));
    }

    private CompletableFuture<MasterAnswer> askOne(MasterEndpoint master) {
        return answer(() -> request(master, MasterPaths.POOL).header("Accept", "application/json"), answerTimeout)
                .thenApply(this::read);
    }

    private MasterAnswer read(HttpResponse<byte[]> response) {
        if (response.statusCode() != 200) {
            return new MasterAnswer.Silent(refusal(response));
        }
        try {
            return new MasterAnswer.Report(json.readValue(response.body(), PoolReport.class));
        } catch (JacksonException e) {
            return new MasterAnswer.Silent("its answer is not a pool report: " + e.getOriginalMessage());
        } catch (IOException e) {
            return new MasterAnswer.Silent(sentence(e));
        }
    }

    private MasterAnswer await(CompletableFuture<MasterAnswer> pending, long deadlineNanos) {
        try {
            return pending.get(Math.max(0, deadlineNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            pending.cancel(true);
            return new MasterAnswer.Silent("it did not answer within " + answerTimeout.toSeconds() + " s");
        } catch (ExecutionException e) {
            return new MasterAnswer.Silent(sentence(e.getCause()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new MasterAnswer.Silent("the operator is stopping");
        }
    }

    private static String sentence(Throwable cause) {
        if (cause instanceof TimeoutException) {
            return "its answer began and did not end in time";
        }
        return cause.getMessage() == null ? "the connection failed" : "the connection failed: " + cause.getMessage();
    }
}
