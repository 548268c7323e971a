// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.Condition;
import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.OnCluster;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Clients;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Scene;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A pool with the default volume, in the memory of its pods, goes over to another version and back from a bad one. */
@OnCluster
@Order(4)
@TestInstance(Lifecycle.PER_CLASS)
@TestMethodOrder(OrderAnnotation.class)
class UpgradeIT {
    private static final Logger LOG = LoggerFactory.getLogger(UpgradeIT.class);
    private static final String NAMESPACE = "kvpool-e2e-upgrade";
    private static final String POOL = "roll";
    private static final int OBJECTS = 200;

    /** Longer than five containers take to start anew, one after the other, on a slow machine. */
    private static final Duration LOAD = Duration.ofSeconds(80);

    private Cluster cluster;
    private Operator operator;
    private Scene scene;
    private Pool pool;

    @BeforeAll
    void makePool(Cluster cluster, Operator operator) {
        this.cluster = cluster;
        this.operator = operator;
        scene = new Scene(cluster, NAMESPACE, POOL, OBJECTS);
        pool = scene.pool();
        apply("0.1.0");
        pool.awaitReady();
        scene.assertPut("before");
    }

    @AfterAll
    void removeNamespace() {
        if (scene != null) {
            scene.close();
        }
    }

    @Test
    @Order(1)
    @DisplayName("an upgrade under load, its operator killed in the middle, loses no object and no pod")
    void upgradeUnderLoad() {
        Set<String> pods = scene.podUids();
        Clients.Load load = scene.clients().startLoad("during", LOAD);

        apply("0.2.0");
        Wait.until(
                "the first step of the upgrade is under way",
                Limits.RESTART,
                () -> assertThat(pool.resource().getStatus().roll().steps()).isNotEmpty());
        Pod victim = operator.pods().getFirst();
        scene.killer().kill(victim);
        scene.restarts().awaitRestartOf(victim);
        awaitVersion("0.2.0", "NoUpgrade");

        load.awaitNothingLost().forEach(line -> LOG.info("load during the upgrade: {}", line));
        scene.assertReadBack("before");
        assertThat(scene.podUids()).as("pods, by uid").isEqualTo(pods);
    }

    @Test
    @Order(2)
    @DisplayName("an upgrade to an image that does not start goes back, and everything is still there")
    void badUpgradeGoesBack() {
        Set<String> pods = scene.podUids();

        apply("0.3.0");
        awaitVersion("0.2.0", "UpgradeFailed");

        Condition why = condition();
        assertThat(why.message()).contains("kvpool:0.2.0", "kvpool:0.3.0", "did not get ready within 30s");
        scene.assertReadBack("before");
        assertThat(scene.podUids()).as("pods, by uid").isEqualTo(pods);
        apply("0.2.0");
        pool.awaitReady();
    }

    private void apply(String version) {
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %s}
                spec:
                  version: %s
                  upgrade: {stepTimeout: 30s}
                  storage: [{name: default, replicas: 3, capacity: 128Mi}]
                """.formatted(POOL, version));
    }

    /** All pods run the version's image, and the operator has come to this end. */
    private void awaitVersion(String version, String reason) {
        Wait.until("the pool runs " + version + " and says " + reason, Limits.POOL_READY, () -> {
            assertThat(condition().reason()).as(condition().message()).isEqualTo(reason);
            assertThat(pool.resource().getStatus().version().running()).isEqualTo(version);
            assertThat(pool.pods())
                    .allSatisfy(pod -> assertThat(
                                    pod.getSpec().getContainers().getFirst().getImage())
                            .endsWith("kvpool:" + version));
        });
    }

    private Condition condition() {
        return pool.resource().getStatus().conditions().stream()
                .filter(condition -> condition.type().equals("UpgradeBlocked"))
                .findFirst()
                .orElseThrow();
    }
}
