// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** By the HTTP client that the plugin has, which is another one than the operator's. */
class PodProxyMastersTest {
    @Test
    void commandsKeepTheirMethod() throws Exception {
        List<String> methods = new CopyOnWriteArrayList<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            methods.add(exchange.getRequestMethod());
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                .build();
        try (KubernetesClient client = new KubernetesClientBuilder()
                .withConfig(config)
                .withHttpClientFactory(new JdkHttpClientFactory())
                .build()) {
            PodProxyMasters masters = new PodProxyMasters(client, "demo");

            assertThat(masters.handOver("demo-master-0")).isEmpty();
            assertThat(masters.cancelDrain("demo-master-0", "n-0")).isEmpty();
        } finally {
            server.stop(0);
        }

        assertThat(methods).containsExactly("POST", "DELETE");
    }
}
