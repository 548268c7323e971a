// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.operator.pool.PoolSketch;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Since when an operator sees what happens: an API server that refuses is there, and one that cannot answer is not. */
class ApiContactTest {
    private static final Instant LATER = PoolSketch.NOON.plusSeconds(60);
    private static final KvCachePool UPGRADING = new PoolSketch("{}")
            .status(PoolSketch.asking("kvpool:2", PoolSketch.IMAGE))
            .observation()
            .pool();

    private final ApiContact contact = new ApiContact(InstantSource.fixed(PoolSketch.NOON));
    private HttpServer server;
    private KubernetesClient client;
    private volatile int code = 404;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(code, -1);
            exchange.close();
        });
        server.start();
        client = new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder()
                        .withAutoConfigure(false)
                        .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                        .withRequestRetryBackoffLimit(0)
                        .build())
                .build();
        contact.since(UPGRADING, client, PoolSketch.NOON);
    }

    @AfterEach
    void stop() {
        client.close();
        server.stop(0);
    }

    /** As where a namespace has lost its RoleBinding: all other pools still have their time. */
    @ParameterizedTest
    @ValueSource(ints = {403, 404})
    void oneThatRefusesAnswers(int answer) {
        code = answer;

        assertThat(contact.since(UPGRADING, client, LATER)).isEqualTo(PoolSketch.NOON);
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 429, 500, 503})
    void oneThatCannotAnswerIsNotSeen(int answer) {
        code = answer;

        assertThat(contact.since(UPGRADING, client, LATER)).isEqualTo(LATER);
    }
}
