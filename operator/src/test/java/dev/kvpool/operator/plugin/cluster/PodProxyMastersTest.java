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
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

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
    void commandsKeepTheirMethod() {
        List<String> methods = new CopyOnWriteArrayList<>();
        server.createContext("/", exchange -> {
            methods.add(exchange.getRequestMethod());
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        PodProxyMasters masters = new PodProxyMasters(client, "demo");

        assertThat(masters.handOver(MasterEndpoint.plain("demo-master-0"))).isEmpty();
        assertThat(masters.cancelDrain(MasterEndpoint.plain("demo-master-0"), "n-0"))
                .isEmpty();
        assertThat(methods).containsExactly("POST", "DELETE");
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
