// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.observation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.operator.apiserver.ApiServer;
import dev.kvpool.operator.plugin.KubectlKvpool;
import dev.kvpool.operator.plugin.PodPages;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.ContainerPortBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pods are asked at the port they have, and their logs are those of the container they have. */
class AdminPageTest {
    private static final String NAMESPACE = "admin-pages";
    private static PodPages pages;
    private static KubernetesClient client;

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    /** As on the network of nodes: no port is the usual one. */
    @BeforeAll
    static void makePods() throws IOException {
        pages = new PodPages();
        ApiServer.shared().createNamespace(NAMESPACE);
        client = ApiServer.shared().client();
        client.resource(client.getKubernetesSerialization().unmarshal("""
                        apiVersion: kvpool.dev/v1alpha1
                        kind: KvCachePool
                        metadata: {name: demo, namespace: %s}
                        spec: {storage: [{name: a, capacity: 1Gi}]}
                        """.formatted(NAMESPACE), KvCachePool.class))
                .create();
        run(pod("demo-a-0", PoolLabels.ROLE_STORAGE, "node", 12301));
        run(pod("demo-agent-x", PoolLabels.ROLE_AGENT, "agent", 12304));
        run(pod("demo-preflight-x", PoolLabels.ROLE_PREFLIGHT, "preflight", 0));
        pages.on("GET demo-a-0:12301/api/v1/node", () -> "{\"setAside\": {\"damaged\": 2}}");
        pages.on("GET demo-a-0:12301/metrics", () -> "node_metrics 1\n");
        pages.on("GET demo-agent-x:12304/api/v1/agent", () -> "{\"clients\": 3}");
        pages.on("GET demo-agent-x:12304/metrics", () -> "agent_metrics 1\n");
        pages.on("LOG demo-a-0/node", () -> "a node's log\n");
        pages.on("LOG demo-agent-x/agent", () -> "an agent's log\n");
        pages.on("LOG demo-preflight-x/preflight", () -> "a preflight's log\n");
    }

    @AfterAll
    static void stop() {
        pages.close();
        client.close();
    }

    @Test
    void statusAsksStorageNodesAtTheirOwnPorts() {
        assertThat(run("status", "demo")).as(err.toString()).isZero();

        assertThat(out.toString()).contains("demo-a-0 found 2 damaged").doesNotContain("could not be asked");
    }

    @Test
    void reportHasTheWordsMetricsAndLogsOfEveryKindOfPod() throws IOException {
        Path file = folder.resolve("report.zip");

        assertThat(run("report", "demo", "--file", file.toString()))
                .as(err.toString())
                .isZero();

        try (ZipFile zip = new ZipFile(file.toFile())) {
            assertThat(text(zip, "says/demo-a-0.json")).contains("damaged");
            assertThat(text(zip, "metrics/demo-a-0.txt")).isEqualTo("node_metrics 1\n");
            assertThat(text(zip, "logs/demo-a-0.log")).isEqualTo("a node's log\n");
            assertThat(text(zip, "says/demo-agent-x.json")).contains("clients");
            assertThat(text(zip, "metrics/demo-agent-x.txt")).isEqualTo("agent_metrics 1\n");
            assertThat(text(zip, "logs/demo-agent-x.log")).isEqualTo("an agent's log\n");
            assertThat(text(zip, "logs/demo-preflight-x.log")).isEqualTo("a preflight's log\n");
            assertThat(zip.getEntry("says/demo-preflight-x.json")).isNull();
            assertThat(zip.getEntry("metrics/demo-preflight-x.txt")).isNull();
        }
    }

    private static Pod pod(String name, String role, String container, int adminPort) {
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(NAMESPACE)
                .withLabels(PoolLabels.ofRole("demo", role))
                .endMetadata()
                .withNewSpec()
                .addNewContainer()
                .withName(container)
                .withImage("kvpool:0.1.0")
                .endContainer()
                .endSpec()
                .build();
        if (adminPort > 0) {
            pod.getSpec()
                    .getContainers()
                    .getFirst()
                    .getPorts()
                    .add(new ContainerPortBuilder()
                            .withName("admin")
                            .withContainerPort(adminPort)
                            .build());
        }
        return pod;
    }

    private static void run(Pod pod) {
        client.resource(pod).create();
        client.resource(pod)
                .editStatus(made -> new PodBuilder(made)
                        .editOrNewStatus()
                        .addNewContainerStatus()
                        .withName(made.getSpec().getContainers().getFirst().getName())
                        .withImage("kvpool:0.1.0")
                        .withImageID("")
                        .withReady(true)
                        .withRestartCount(0)
                        .withNewState()
                        .withNewRunning()
                        .withStartedAt("2026-01-01T12:00:00Z")
                        .endRunning()
                        .endState()
                        .endContainerStatus()
                        .endStatus()
                        .build());
    }

    private int run(String... arguments) {
        return new KubectlKvpool(
                        options -> new Cluster(ApiServer.shared().client(pages), NAMESPACE), Reader.nullReader())
                .run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }

    private static String text(ZipFile zip, String name) throws IOException {
        assertThat(zip.getEntry(name)).as(name).isNotNull();
        return new String(
                zip.getInputStream(zip.getEntry(name)).readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    }
}
