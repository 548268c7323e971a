// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.pool.Clients;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Scene;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Manifests as Mooncake's guide has them, with another image: no operator, no custom resource. They set no security context that level
 * {@code restricted} would admit, and the stores split by NUMA use the host's network and a path of the host.
 */
@OnScene(
        namespace = MooncakeManifestIT.NAMESPACE,
        pool = MooncakeManifestIT.NAME,
        objects = MooncakeManifestIT.OBJECTS,
        podSecurity = "privileged")
@Order(2)
@TestInstance(Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MooncakeManifestIT {
    static final String NAMESPACE = "kvpool-e2e-mooncake";

    /** Of the ConfigMap that tells clients where the master is. */
    static final String NAME = "mooncake";

    static final int OBJECTS = 100;

    private static final String NUMA_NAME = "qwen3-0";
    private static final String NUMA_STORES = "qwen3-0-store-1000gb-0";

    private Cluster cluster;
    private Scene scene;

    /** Both manifests at once, so that the pods of the second start while the first is tried. */
    @BeforeAll
    void apply(Cluster cluster, Scene scene) throws IOException {
        this.cluster = cluster;
        this.scene = scene;
        for (String manifest : List.of("/mooncake.yaml", "/mooncake-numa.yaml")) {
            try (InputStream content = MooncakeManifestIT.class.getResourceAsStream(manifest)) {
                cluster.kubectl().apply(NAMESPACE, new String(content.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        cluster.kubectl()
                .awaitCondition(NAMESPACE, "deployment/mooncake-master", "condition=Available", Limits.RESTART);
        cluster.kubectl().awaitCondition(NAMESPACE, "deployment/mooncake-store", "condition=Available", Limits.RESTART);
    }

    @Test
    @Order(1)
    @DisplayName("what was put through them is read back, also after the master's pod was replaced by another one")
    void serveAndOutliveTheirMaster() {
        // The guide's store has no readiness probe: its pod is available before it has found the master.
        Wait.until("the store is in the pool", Limits.RESTART, () -> scene.assertPut("before"));
        scene.assertReadBack("before");

        cluster.kubectl().run("delete", "pod", "--namespace", NAMESPACE, "--selector", "app=mooncake-master");
        cluster.kubectl()
                .awaitCondition(NAMESPACE, "deployment/mooncake-master", "condition=Available", Limits.RESTART);

        // The store finds the other master by itself.
        Wait.until(
                "what was put is read back",
                Limits.TAKEOVER,
                () -> assertThat(scene.clients().getSome("before", OBJECTS))
                        .contains("read back %1$d of %1$d objects".formatted(OBJECTS)));
        scene.assertPut("after");
    }

    @Test
    @Order(2)
    @DisplayName("stores split by NUMA on the host's network serve, and every probe finds the programs that it calls")
    void serveSplitByNuma() {
        cluster.kubectl().awaitCondition(NAMESPACE, "pod/" + NUMA_STORES, "condition=Ready", Limits.RESTART);
        Clients clients = new Clients(cluster, new Pool(cluster, NAMESPACE, NUMA_NAME));
        scene.assertPut(clients, "numa");
        scene.assertReadBack(clients, "numa");

        assertThat(http("s-qwen3-0-master:9003/get_all_segments").lines())
                .as("the memory of both processes is in the pool")
                .hasSize(2);
        for (int port : new int[] {9300, 9301}) {
            assertThat(http("127.0.0.1:%d/health".formatted(port))).contains("OK");
        }

        List<Pod> pods = cluster.client()
                .pods()
                .inNamespace(NAMESPACE)
                .withLabel("app.kubernetes.io/instance", NUMA_NAME)
                .list()
                .getItems();
        // A liveness probe that fails restarts its container only after three periods: this scenario is over before.
        assertThat(pods.stream().mapToInt(this::runProbes).sum())
                .as("commands of probes that succeeded")
                .isEqualTo(5);
        assertThat(pods.stream().flatMap(pod -> pod.getStatus().getContainerStatuses().stream()))
                .as("containers, none of which was restarted")
                .extracting(ContainerStatus::getRestartCount)
                .containsExactly(0, 0, 0);
    }

    /** Runs the command of every probe of the pod in its container. @return how many there are */
    private int runProbes(Pod pod) {
        int commands = 0;
        for (Container container : pod.getSpec().getContainers()) {
            List<List<String>> ofProbes = Stream.of(container.getStartupProbe(), container.getLivenessProbe())
                    .filter(Objects::nonNull)
                    .map(probe -> probe.getExec().getCommand())
                    .toList();
            for (List<String> command : ofProbes) {
                exec(pod.getMetadata().getName(), container.getName(), command);
                commands++;
            }
        }
        return commands;
    }

    /** What an HTTP server answers to a process of the stores' pod. */
    private String http(String url) {
        String program =
                "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode().strip())";
        return exec(NUMA_STORES, "store-numa0", List.of("python3", "-c", program, "http://" + url));
    }

    /** @throws IllegalStateException when the command fails */
    private String exec(String pod, String container, List<String> command) {
        List<String> words = new ArrayList<>(List.of("exec", "--namespace", NAMESPACE, pod, "--container", container));
        words.add("--");
        words.addAll(command);
        return cluster.kubectl().run(words.toArray(String[]::new));
    }
}
