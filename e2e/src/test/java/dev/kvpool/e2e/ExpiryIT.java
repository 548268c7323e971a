// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.ConditionStatus;
import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Clients;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Scene;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The masters of a pool are away for longer than certificates live: none of its processes can get another one. */
@OnScene(namespace = ExpiryIT.NAMESPACE, pool = ExpiryIT.POOL, objects = ExpiryIT.OBJECTS)
@Order(10)
@Tag("long")
@TestInstance(Lifecycle.PER_CLASS)
class ExpiryIT {
    private static final Logger LOG = LoggerFactory.getLogger(ExpiryIT.class);
    static final String NAMESPACE = "kvpool-e2e-expiry";
    static final String POOL = "brief";
    static final int OBJECTS = 100;
    private static final String END_OF_CERTIFICATE = "kvpool_certificate_not_after_seconds{kind=\"leaf\"}";
    private static final Duration LIFE = Duration.ofMinutes(2);
    private static final Duration LOAD = Duration.ofMinutes(30);

    private Cluster cluster;
    private Scene scene;
    private Pool pool;

    @BeforeAll
    void makePool(Cluster cluster, Operator operator, Scene scene) {
        this.cluster = cluster;
        this.scene = scene;
        pool = scene.pool();
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %s}
                spec:
                  masters: {podTemplate: {env: [{name: KVPOOL_CERTIFICATE_LIFE, value: %ds}]}}
                  storage: [{name: default, replicas: 2, capacity: 256Mi}]
                """.formatted(POOL, LIFE.toSeconds()));
        pool.awaitReady();
    }

    @Test
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    @DisplayName(
            "under load, no master is there until the certificates of storage nodes have ended, and all connections with"
                    + " them: when masters are back, all is as before, no pod was made again, and nothing is lost")
    void mastersAreAwayForLongerThanCertificatesLive() {
        scene.assertPut("kept");
        Map<String, Integer> storage = scene.restarts().byUid(pool.storagePods());
        Clients.Load load = scene.clients().startLightLoad("during", LOAD);
        awaitClients(true);

        keepMastersAway();
        awaitReady(ConditionStatus.FALSE);
        for (Pod node : pool.storagePods()) {
            Wait.until(
                    "the certificate of " + node.getMetadata().getName() + " ends",
                    LIFE.plus(Limits.STATUS),
                    () -> assertThat(end(node)).isBefore(Instant.now()));
        }
        awaitClients(false);

        cluster.client().resourceQuotas().inNamespace(NAMESPACE).withName(POOL).delete();
        // Else Kubernetes tries again ever later.
        cluster.kubectl().run("annotate", "statefulset", POOL + "-master", "room=yes", "--namespace", NAMESPACE);
        pool.awaitReady();
        for (Pod node : pool.storagePods()) {
            Wait.until(
                    node.getMetadata().getName() + " tells of another certificate",
                    Limits.STATUS,
                    () -> assertThat(end(node)).isAfter(Instant.now()));
        }
        List<String> lines = load.awaitNothingLost();
        lines.forEach(line -> LOG.info("load: {}", line));
        scene.assertReadBack("kept");
        assertThat(scene.restarts().byUid(pool.storagePods())).isEqualTo(storage);
    }

    /** As a namespace that is full does it: the pods of now may stay, and the next ones are refused. */
    private void keepMastersAway() {
        List<Pod> all = cluster.client().pods().inNamespace(NAMESPACE).list().getItems();
        List<Pod> masters = cluster.client()
                .pods()
                .inNamespace(NAMESPACE)
                .withLabel("kvpool.dev/role", "master")
                .list()
                .getItems();
        cluster.client()
                .resource(new ResourceQuotaBuilder()
                        .withNewMetadata()
                        .withName(POOL)
                        .withNamespace(NAMESPACE)
                        .endMetadata()
                        .withNewSpec()
                        .addToHard("pods", new Quantity(Integer.toString(all.size() - masters.size())))
                        .endSpec()
                        .build())
                .create();
        // Nothing is refused before Kubernetes has counted what is there.
        Wait.until(
                "the quota of pods is in force",
                Limits.STATUS,
                () -> assertThat(cluster.client()
                                .resourceQuotas()
                                .inNamespace(NAMESPACE)
                                .withName(POOL)
                                .get()
                                .getStatus()
                                .getHard())
                        .containsKey("pods"));
        masters.forEach(
                master -> cluster.client().resource(master).withGracePeriod(0).delete());
    }

    private Instant end(Pod node) {
        return Instant.ofEpochSecond((long) pool.metric(node.getMetadata().getName(), END_OF_CERTIFICATE));
    }

    private void awaitClients(boolean some) {
        Wait.until(some ? "a client is connected" : "no client is connected", LIFE.plus(Limits.STATUS), () -> {
            double clients = pool.storagePods().stream()
                    .mapToDouble(node -> pool.metric(node.getMetadata().getName(), "kvpool_node_clients_connected"))
                    .sum();
            assertThat(clients > 0).as("%.0f clients", clients).isEqualTo(some);
        });
    }

    private void awaitReady(ConditionStatus wanted) {
        Wait.until(
                "Ready is " + wanted,
                Limits.STATUS,
                () -> assertThat(pool.resource().getStatus().conditions())
                        .filteredOn(condition -> condition.type().equals("Ready"))
                        .extracting(Condition::status)
                        .containsExactly(wanted));
    }
}
