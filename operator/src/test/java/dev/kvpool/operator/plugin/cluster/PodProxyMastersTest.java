// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.MasterEndpoint;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** By the HTTP client that the plugin has, which is another one than the operator's. */
class PodProxyMastersTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private HttpServer server;
    private KubernetesClient client;

    @BeforeEach
    void serve() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.start();
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                .withRequestRetryBackoffLimit(0)
                .withHttp2Disable(true)
                .build();
        client = new KubernetesClientBuilder()
                .withConfig(config)
                .withHttpClientFactory(new JdkHttpClientFactory())
                .build();
    }

    @AfterEach
    void close() {
        client.close();
        threads.shutdownNow();
        server.stop(0);
    }

    @Test
    void aCommandKeepsItsMethod() {
        List<String> methods = new CopyOnWriteArrayList<>();
        server.createContext("/", exchange -> {
            methods.add(exchange.getRequestMethod());
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        PodProxyMasters masters = new PodProxyMasters(client, "demo");

        assertThat(masters.forget(MasterEndpoint.plain("demo-master-0"), "n-0")).isEmpty();
        assertThat(methods).containsExactly("POST");
    }

    @Test
    void aPodThatDoesNotAnswerIsNotWaitedForLong() {
        CountDownLatch end = new CountDownLatch(1);
        server.createContext("/", exchange -> {
            if (exchange.getRequestURI().getPath().contains("/pods/hangs")) {
                await(end);
            }
            report().handle(exchange);
        });
        PodProxyMasters masters = new PodProxyMasters(client, "demo", Duration.ofMillis(1500));

        Map<String, MasterAnswer> answers =
                masters.ask(Map.of("one", MasterEndpoint.plain("hangs"), "two", MasterEndpoint.plain("answers")));

        assertThat(answers.get("one")).isEqualTo(new MasterAnswer.Silent("it did not answer within 1.5 s"));
        assertThat(answers.get("two")).isInstanceOf(MasterAnswer.Report.class);
        assertThatThrownBy(() -> masters.text(MasterEndpoint.plain("hangs"), 1, "/metrics"))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessage("it did not answer within 1.5 s");
        end.countDown();
    }

    @Test
    void allAreAskedAtTheSameTime() {
        CyclicBarrier all = new CyclicBarrier(3);
        server.createContext("/", exchange -> {
            try {
                all.await(LONG.toSeconds(), TimeUnit.SECONDS);
            } catch (Exception e) {
                throw new AssertionError("they did not come together", e);
            }
            report().handle(exchange);
        });
        PodProxyMasters masters = new PodProxyMasters(client, "demo", LONG);

        Map<String, MasterAnswer> answers = masters.ask(
                Map.of("a", MasterEndpoint.plain("a"), "b", MasterEndpoint.plain("b"), "c", MasterEndpoint.plain("c")));

        assertThat(answers.values()).hasSize(3).allMatch(MasterAnswer.Report.class::isInstance);
    }

    /** The API server gives a token, and a pod or the API server itself refuses. */
    private PodProxyMasters refusing(int code, String body) {
        server.createContext("/", exchange -> {
            boolean isToken = exchange.getRequestURI().getPath().endsWith("/token");
            byte[] answer = (isToken
                            ? "{\"kind\": \"TokenRequest\", \"apiVersion\": \"authentication.k8s.io/v1\", \"status\": {\"token\": \"t\","
                                    + " \"expirationTimestamp\": \"2999-01-01T00:00:00Z\"}}"
                            : body)
                    .getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", isToken ? "application/json" : "text/plain");
            exchange.sendResponseHeaders(isToken ? 201 : code, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        return new PodProxyMasters(client, "demo");
    }

    private static MasterEndpoint secure() {
        return new MasterEndpoint(
                "demo-master-0",
                Optional.of(new MasterEndpoint.Identity(
                        "demo", "11111111-2222-3333-4444-555555555555", "demo-master-0", "")));
    }

    @ParameterizedTest
    @CsvSource({"401", "403", "413", "429", "404"})
    void whatAPodSaysOfARefusalIsShown(int code) {
        PodProxyMasters masters = refusing(code, "admin/demo.x may not POST\n\u0007" + "x".repeat(5000));

        String sentence = "it answered with HTTP status " + code + ": admin/demo.x may not POST??xxx";
        assertThat(masters.forget(secure(), "n-0"))
                .hasValueSatisfying(why -> assertThat(why).startsWith(sentence).hasSizeLessThan(300));
        assertThat(masters.ask(Map.of("m", secure())).get("m"))
                .isInstanceOfSatisfying(
                        MasterAnswer.Silent.class,
                        silent -> assertThat(silent.reason()).startsWith(sentence));
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "[]", "7", "{}", ""})
    void anyBodyOfARefusalIsShown(String body) {
        assertThat(refusing(429, body).forget(secure(), "n-0"))
                .hasValueSatisfying(
                        why -> assertThat(why).contains("HTTP status 429").endsWith(body));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "401 | the cluster does not know you",
                "403 | needs the rights get and create on pods/proxy",
                "503 | no endpoints"
            })
    void whatTheApiServerSaysItselfIsNotThePods(int code, String sentence) {
        PodProxyMasters masters = refusing(
                code,
                "{\"kind\": \"Status\", \"apiVersion\": \"v1\", \"status\": \"Failure\", \"code\": %d, \"message\": \"no endpoints\"}"
                        .formatted(code));

        assertThat(masters.forget(secure(), "n-0"))
                .hasValueSatisfying(why -> assertThat(why).contains(sentence).doesNotContain("{"));
    }

    private static HttpHandler report() {
        return exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write("{}".getBytes(StandardCharsets.UTF_8));
            exchange.close();
        };
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
