// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Kubectl;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Clients;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Scene;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
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

/**
 * A pool in the memory of its pods gets nearly smaller, smaller, larger, and larger nodes, and no object is missed. All of it is asked for by
 * a user who has the role {@code edit} in the namespace, partly by an autoscaler.
 */
@OnScene(namespace = ScaleIT.NAMESPACE, pool = ScaleIT.POOL, objects = ScaleIT.OBJECTS)
@Order(8)
@TestInstance(Lifecycle.PER_CLASS)
@TestMethodOrder(OrderAnnotation.class)
class ScaleIT {
    private static final Logger LOG = LoggerFactory.getLogger(ScaleIT.class);
    static final String NAMESPACE = "kvpool-e2e-scale";
    static final String POOL = "scale";
    static final int OBJECTS = 200;

    /** Longer than a node takes to be emptied: its readers' leases end first. */
    private static final Duration LOAD = Duration.ofMinutes(2);

    /** Three nodes are emptied. */
    private static final Duration LOAD_OF_ALL = Duration.ofMinutes(2);

    /** The shortest there is. */
    private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(10);

    /** Of 64 KiB each, of which a third or more come to the node that is emptied. */
    private static final int THROTTLED_OBJECTS = 400;

    /** Bytes a second, with which that takes six times as long at least. */
    private static final long RATE = 140 << 10;

    private static final String EDITOR = "editor";

    private Cluster cluster;
    private Kubectl editor;
    private Operator operator;
    private Scene scene;
    private Pool pool;

    @BeforeAll
    void makePool(Cluster cluster, Operator operator, Scene scene) {
        this.cluster = cluster;
        this.operator = operator;
        this.scene = scene;
        pool = scene.pool();
        cluster.kubectl()
                .run("create", "rolebinding", EDITOR, "-n", NAMESPACE, "--clusterrole=edit", "--user=" + EDITOR);
        editor = cluster.kubectl().as(EDITOR);
        editor.apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %s}
                spec:
                  replicas: 3
                  cache: {objectLease: 20s}
                  storage: [{name: default, capacity: 128Mi}]
                """.formatted(POOL));
        pool.awaitReady();
        scene.assertPut("before");
    }

    @Test
    @ResourceLock(Operator.LOCK)
    @Order(1)
    @DisplayName(
            "kubectl scale to fewer nodes that is taken back under load, while the operator is killed: the node stays, with its pod,"
                    + " and takes part again")
    void cancelledUnderLoad() {
        Set<String> pods = scene.podUids();
        operator.forgetRestarts();
        Clients.Load load = scene.clients().startLoad("cancelled", LOAD);

        scale(2);
        awaitEmptying();
        scale(3);
        scene.killOperator(operator);

        Wait.until(
                "no node is to go any more",
                Limits.POOL_READY,
                () -> assertThat(drains()).isEmpty());
        pool.awaitReady();
        assertThat(scene.podUids()).as("pods, by uid").isEqualTo(pods);
        load.awaitNothingLost().forEach(line -> LOG.info("load during the cancelled drain: {}", line));
        scene.assertReadBack("before");
        assertThat(events()).contains("DrainStarted", "DrainCancelled").doesNotContain("DrainFinished");
    }

    @Test
    @ResourceLock(Operator.LOCK)
    @Order(2)
    @DisplayName(
            "an autoscaler that wants fewer nodes has the node emptied first under load, though the operator is killed and emptying takes"
                    + " more than five times the drain timeout, after which it would drop what is left: nothing is lost")
    void shrinkUnderLoad() {
        operator.forgetRestarts();
        scene.clients().put("throttled", THROTTLED_OBJECTS);
        throttleDrains();
        Clients.Load load = scene.clients().startLoad("shrunk", LOAD);

        autoscale(2);
        awaitEmptying();
        Instant begun = Instant.parse(drains().getFirst().since());
        scene.killOperator(operator);

        Wait.until(
                "the third storage node is gone",
                Limits.POOL_READY,
                () -> assertThat(names()).containsExactly(POOL + "-default-0", POOL + "-default-1"));
        assertThat(Duration.between(begun, Instant.now())).isGreaterThan(DRAIN_TIMEOUT.multipliedBy(5));
        pool.awaitReady();
        load.awaitNothingLost().forEach(line -> LOG.info("load while the pool got smaller: {}", line));
        scene.assertReadBack("before");
        assertThat(scene.clients().get("throttled", THROTTLED_OBJECTS))
                .contains("read back %1$d of %1$d objects".formatted(THROTTLED_OBJECTS));
        assertThat(events()).contains("DrainFinished").doesNotContain("ObjectsDropped", "DrainLeftovers");
    }

    @Test
    @Order(3)
    @DisplayName(
            "an autoscaler that wants more nodes: the third comes back, empty and wanted, and everything is still there")
    void growAgain() {
        autoscale(3);

        Wait.until("there are three storage nodes", Limits.POOL_READY, () -> {
            assertThat(names()).hasSize(3);
            assertThat(pool.resource().getStatus().storage().summary()).isEqualTo("3/3");
        });
        pool.awaitReady();
        assertThat(drains()).isEmpty();
        scene.assertReadBack("before");
        scene.assertPut("after");
        scene.assertReadBack("after");
    }

    @Test
    @Order(4)
    @DisplayName(
            "another capacity under load: each storage node is emptied and made anew, one after the other, and nothing is lost")
    void anotherCapacityUnderLoad() {
        List<String> pods = storageUids();
        Clients.Load load = scene.clients().startLoad("resized", LOAD_OF_ALL);

        editor.run(
                "patch",
                "kvp",
                POOL,
                "-n",
                NAMESPACE,
                "--type=merge",
                "-p",
                "{\"spec\":{\"cache\":{\"repair\":null},\"drain\":null,\"onDataLoss\":\"Move\",\"storage\":[{\"name\":\"default\",\"capacity\":\"192Mi\"}]}}");
        Wait.until("every storage pod is another one", Limits.POOL_READY, () -> {
            assertThat(storageUids()).hasSize(3).doesNotContainAnyElementsOf(pods);
            assertThat(drains()).isEmpty();
        });
        pool.awaitReady();

        load.awaitNothingLost().forEach(line -> LOG.info("load while storage nodes were made anew: {}", line));
        scene.assertReadBack("before");
        assertThat(events()).contains("SettingsStep").doesNotContain("ObjectsDropped", "DrainLeftovers");
    }

    /** Objects are leased for less than a timeout: while readers end, nothing moves. */
    private void throttleDrains() {
        editor.run("patch", "kvp", POOL, "-n", NAMESPACE, "--type=merge", "-p", """
                {"spec": {"cache": {"objectLease": "2s", "repair": {"rate": "%d"}},
                          "drain": {"timeout": "%ds", "onLeftovers": "Drop"}}}
                """.formatted(
                        RATE, DRAIN_TIMEOUT.toSeconds()));
        Wait.until(
                "the leader knows the rate",
                Limits.STATUS,
                () -> assertThat(pool.leadersReport()
                                .at("/cacheRules/repairBytesPerSecond")
                                .asLong())
                        .isEqualTo(RATE));
    }

    private void scale(int replicas) {
        editor.run("scale", "kvp", POOL, "-n", NAMESPACE, "--replicas=" + replicas);
    }

    /** An autoscaler that measures nothing keeps to its bounds. */
    private void autoscale(int replicas) {
        editor.apply(NAMESPACE, """
                apiVersion: autoscaling/v2
                kind: HorizontalPodAutoscaler
                metadata: {name: %1$s}
                spec:
                  scaleTargetRef: {apiVersion: kvpool.dev/v1alpha1, kind: KvCachePool, name: %1$s}
                  minReplicas: %2$d
                  maxReplicas: %2$d
                """.formatted(POOL, replicas));
    }

    /** Until the leader itself says how much is left, so that what follows happens in the middle. */
    private void awaitEmptying() {
        Wait.until("the third storage node is being emptied", Limits.STATUS, () -> {
            assertThat(drains())
                    .extracting(StepStatus::of, StepStatus::state)
                    .containsExactly(tuple(POOL + "-default-2", StepState.UNDER_WAY));
            assertThat(drains().getFirst().objectsLeft()).as("objects left").isNotNull();
        });
    }

    private List<StepStatus> drains() {
        return pool.resource().getStatus().steps();
    }

    private List<String> storageUids() {
        return pool.storagePods().stream()
                .map(pod -> pod.getMetadata().getUid())
                .toList();
    }

    private List<String> names() {
        return pool.storagePods().stream()
                .map(pod -> pod.getMetadata().getName())
                .toList();
    }

    private List<String> events() {
        return cluster.client().events().v1().events().inNamespace(NAMESPACE).list().getItems().stream()
                .map(event -> event.getReason())
                .distinct()
                .toList();
    }
}
