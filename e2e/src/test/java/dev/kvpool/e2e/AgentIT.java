// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Clients;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Scene;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.TestMethodOrder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Engines that use a pool through the agent of their node. */
@OnScene(namespace = AgentIT.NAMESPACE, pool = AgentIT.POOL, objects = AgentIT.OBJECTS)
@Order(4)
@TestInstance(Lifecycle.PER_CLASS)
@TestMethodOrder(OrderAnnotation.class)
class AgentIT {
    private static final Logger LOG = LoggerFactory.getLogger(AgentIT.class);
    static final String NAMESPACE = "kvpool-e2e-agent";
    static final String POOL = "shared";
    private static final String SOCKETS = "/run/kvpool-e2e-agents";
    private static final String AGENTS = "kvpool.dev/role=agent";
    static final int OBJECTS = 200;
    private static final Duration LOAD = Duration.ofSeconds(40);

    private Cluster cluster;
    private Scene scene;
    private Clients attached;

    @BeforeAll
    void makePool(Cluster cluster, Operator operator, Scene scene) {
        this.cluster = cluster;
        this.scene = scene;
        attached = scene.clients().throughAgent(SOCKETS);
        cluster.kubectl()
                .run("label", "namespace", NAMESPACE, "--overwrite", "pod-security.kubernetes.io/enforce=privileged");
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %s}
                spec:
                  transferEngine: agents
                  masters: {replicas: 1}
                  storage: [{name: memory, capacity: 128Mi}]
                """.formatted(POOL));
        engine("{socketDirectory: %1$s, agents: {path: %1$s, stagingSize: 256Mi}}".formatted(SOCKETS));
        scene.pool().awaitReady();
        awaitAgents("1/1");
    }

    @Test
    @Order(1)
    @DisplayName("what is put through the agent is read through it and without it")
    void clientsOfTheAgentAndOthersSeeTheSame() {
        assertThat(attached.put("attached", OBJECTS)).contains("put %d of %d objects".formatted(OBJECTS, OBJECTS));
        scene.assertReadBack("attached");
        scene.assertReadBack(attached, "attached");
    }

    @Test
    @Order(2)
    @DisplayName("the agent's pod and the storage node's share memory, by the socket in the directory that both mount")
    void bytesGoThroughSharedMemory() {
        String metrics = scene.pool().ask(agents("{.items[0].metadata.name}"), "metrics");
        assertThat(metrics).contains("kvpool_agent_shm_refusals_total 0.0").contains("kvpool_agent_shm_bytes_total ");
        assertThat(metrics).doesNotContain("kvpool_agent_shm_bytes_total 0.0");
    }

    @Test
    @Order(3)
    @DisplayName("when the agent is replaced under load nothing is lost, and its clients go on")
    void anAgentIsReplacedUnderLoad() {
        Clients.Load load = attached.startLoad("load", LOAD);
        String before = agents("{.items[*].metadata.uid}");
        cluster.kubectl().run("delete", "pod", "--namespace", NAMESPACE, "-l", AGENTS);
        Wait.until(
                "another agent is there",
                Limits.RESTART,
                () -> assertThat(agents("{.items[*].metadata.uid}"))
                        .isNotEmpty()
                        .isNotEqualTo(before));
        awaitAgents("1/1");

        load.awaitNothingLost().forEach(line -> LOG.info("load while the agent was replaced: {}", line));
        scene.assertReadBack(attached, "attached");
    }

    @Test
    @Order(4)
    @DisplayName("when the transfer engine asks for no agents they go, and the pool stays")
    void agentsGo() {
        engine("{socketDirectory: %s}".formatted(SOCKETS));
        Wait.until(
                "there is no DaemonSet any more",
                Limits.POOL_READY,
                () -> assertThat(cluster.kubectl()
                                .run(
                                        "get",
                                        "daemonset",
                                        "--namespace",
                                        NAMESPACE,
                                        "-o",
                                        "jsonpath={.items[*].metadata.name}"))
                        .isEmpty());
        scene.assertReadBack("attached");
    }

    private void engine(String spec) {
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: TransferEngine
                metadata: {name: agents}
                spec: %s
                """.formatted(spec));
    }

    private String agents(String what) {
        return cluster.kubectl().run("get", "pod", "--namespace", NAMESPACE, "-l", AGENTS, "-o", "jsonpath=" + what);
    }

    private void awaitAgents(String summary) {
        Wait.until(
                "agents are ready: " + summary,
                Limits.POOL_READY,
                () -> assertThat(cluster.kubectl()
                                .run(
                                        "get",
                                        "transferengine",
                                        "agents",
                                        "--namespace",
                                        NAMESPACE,
                                        "-o",
                                        "jsonpath={.status.agents.summary} {.status.conditions[0].reason}"))
                        .isEqualTo(summary + " EngineReady"));
    }
}
