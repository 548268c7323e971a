// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Clients;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Scene;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.readiness.Readiness;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The operator's own upgrade over a pool that serves, two operators of which one goes away in the middle of its work, and none. */
@OnScene(namespace = OperatorsIT.NAMESPACE, pool = OperatorsIT.POOL, objects = 200)
@Order(3)
@ResourceLock(Operator.LOCK)
@TestInstance(Lifecycle.PER_CLASS)
@TestMethodOrder(OrderAnnotation.class)
class OperatorsIT {
    private static final Logger LOG = LoggerFactory.getLogger(OperatorsIT.class);
    static final String NAMESPACE = "kvpool-e2e-operators";
    static final String POOL = "watched";

    /** Longer than an operator's Lease lasts, and than three containers take to start anew after each other on a slow machine. */
    private static final Duration LOAD = Duration.ofSeconds(150);

    private Cluster cluster;
    private Operator operator;
    private Scene scene;
    private Pool pool;

    @BeforeAll
    void makePool(Cluster cluster, Operator operator, Scene scene) {
        this.cluster = cluster;
        this.operator = operator;
        this.scene = scene;
        pool = scene.pool();
        apply("0.1.0");
        pool.awaitReady();
        scene.assertPut("before");
    }

    @AfterAll
    void oneOperatorAsEver() {
        operator.install();
    }

    @Test
    @Order(1)
    @DisplayName("`helm upgrade` of the operator, to two replicas, restarts nothing of a pool")
    void upgradeOfTheOperator() {
        Map<String, Integer> restarts = scene.restarts().byUid(pool.members());
        List<String> former = names(operator.pods());

        operator.install("replicas=2", "podAnnotations.upgraded=yes");

        Wait.until("two operators are ready, and none of before is left", Limits.OPERATOR_READY, () -> {
            assertThat(names(operator.pods())).hasSize(2).doesNotContainAnyElementsOf(former);
            assertThat(operator.pods()).allMatch(Readiness::isPodReady);
        });
        pool.awaitReconciledAgain();
        assertThat(scene.restarts().byUid(pool.members()))
                .as("restarts, by uid")
                .isEqualTo(restarts);
        scene.assertReadBack("before");
    }

    @Test
    @Order(2)
    @DisplayName(
            "the operator that works goes away in the middle of an upgrade under load: the other one carries it on")
    void theOtherOneCarriesOn() {
        // They know both wire versions: the pool goes over to 2 as soon as nobody is connected who knows only 1.
        Clients clients = newClients();
        Clients.Load load = clients.startLoad("during", LOAD);
        apply("0.2.0");
        pool.awaitUpgradeStep();

        String victim = operator.leader();
        cluster.kubectl().run("delete", "pod", victim, "--namespace", Operator.NAMESPACE, "--force");

        Wait.until(
                "another operator than " + victim + " works",
                Limits.TAKEOVER,
                () -> assertThat(operator.leader()).isNotBlank().isNotEqualTo(victim));
        pool.awaitVersion("0.2.0", "NoUpgrade");
        load.awaitNothingLost().forEach(line -> LOG.info("load while operators change: {}", line));
        scene.assertReadBack(clients, "before");
    }

    @Test
    @Order(3)
    @DisplayName("Helm uninstalls the operator: pools stay and serve; installed again, it takes them over as they are")
    void poolsOutliveTheOperator() {
        Set<String> pods = scene.podUids();

        operator.uninstall();
        try {
            assertThat(cluster.kubectl().run("get", "crd", "--output=name")).contains("kvcachepools.kvpool.dev");
            assertThat(pool.resource().getMetadata().getDeletionTimestamp()).isNull();
            scene.assertReadBack(newClients(), "before");
        } finally {
            operator.install();
        }

        pool.awaitReconciledAgain();
        assertThat(scene.podUids()).as("pods, by uid").isEqualTo(pods);
    }

    private Clients newClients() {
        return scene.clients().ofVersion("0.2.0");
    }

    private static List<String> names(List<Pod> pods) {
        return pods.stream().map(pod -> pod.getMetadata().getName()).toList();
    }

    private void apply(String version) {
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %s}
                spec:
                  version: %s
                  storage: [{name: default, replicas: 2, capacity: 128Mi}]
                """.formatted(POOL, version));
    }
}
