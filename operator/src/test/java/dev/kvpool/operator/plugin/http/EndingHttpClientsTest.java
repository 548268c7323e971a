// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.lang.ref.Reference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class EndingHttpClientsTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Test
    void aClosedClientWaitsForNoSocketAnyLonger() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            byte[] answer = "{}".getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        try {
            Set<Thread> before = waitingForSockets();
            KubernetesClient client = new KubernetesClientBuilder()
                    .withConfig(new ConfigBuilder()
                            .withMasterUrl(
                                    "http://127.0.0.1:" + server.getAddress().getPort())
                            .build())
                    .withHttpClientFactory(new EndingHttpClients())
                    .build();
            try {
                Set<Thread> made;
                try (client) {
                    assertThat(client.raw("/version")).isEqualTo("{}");
                    made = waitingForSockets();
                    made.removeAll(before);
                    assertThat(made).as("threads of the client").hasSize(1);
                }
                await().atMost(LIMIT).until(() -> made.stream().noneMatch(Thread::isAlive));
            } finally {
                // Once the collector has found that the client is out of reach, its thread ends by itself.
                Reference.reachabilityFence(client);
            }
        } finally {
            server.stop(0);
        }
    }

    private static Set<Thread> waitingForSockets() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().contains("SelectorManager"))
                .collect(Collectors.toSet());
    }
}
