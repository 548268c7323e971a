// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.Condition;
import dev.kvpool.api.v1alpha1.DrainPhase;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.api.v1alpha1.PoolPhase;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.pool.report.PollInterval;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Nodes of the cluster that are drained, on a real API server with a scripted leader: evictions, which the API server itself
 * refuses or carries out, wait until storage nodes are empty.
 */
class NodeDrainLifecycleTest {
    private static final String NAMESPACE = "node-drains";
    private static final int STORAGE_NODES = 3;
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration LOOK = Duration.ofMillis(100);

    private static OperatorUnderTest operator;
    /** An eviction that is refused is not tried again by the client. */
    private static KubernetesClient impatient;

    private static ClusterActor cluster;

    /** Each pool has its own, so that none minds what is done to another. */
    private final List<String> nodes = new ArrayList<>();

    /** A calm pool is not looked at again, so that it is the cordon that wakes the operator. */
    @BeforeAll
    static void start() {
        operator = new OperatorUnderTest(NAMESPACE, new PollInterval(Duration.ofMinutes(10), Duration.ofMillis(200)));
        impatient = ApiServer.shared().client(new Interceptor() {});
        cluster = new ClusterActor(impatient, NAMESPACE);
    }

    @AfterAll
    static void stop() {
        operator.close();
        impatient.close();
    }

    /** Nodes are of the whole cluster; other tests must not see these. */
    @AfterEach
    void removeNodes() {
        nodes.forEach(node -> operator.client().nodes().withName(node).delete());
    }

    @Test
    void aPodIsEvictedWhenItIsEmptyThroughAnOperatorThatDiesAtEachStepAndTakesPartAgain() {
        ShrunkPool pool = ready("evicted", "{replicas: 3, storage: [{name: default, capacity: 1Gi}]}");
        Map<String, String> before = pool.storagePods();
        assertThat(evict("evicted", "evicted-default-2"))
                .as("nobody cordoned anything")
                .isFalse();

        cluster.cordon("evicted-node-2", true);
        List<DrainPhase> seen = new ArrayList<>();
        play(pool, () -> {
            drains("evicted").stream()
                    .map(DrainStatus::phase)
                    .filter(phase -> !seen.contains(phase))
                    .findFirst()
                    .ifPresent(phase -> {
                        seen.add(phase);
                        operator.restart();
                    });
            assertThat(evict("evicted", "evicted-default-0"))
                    .as("it is on another node")
                    .isFalse();
            return evict("evicted", "evicted-default-2");
        });

        assertThat(seen).as("phases in which the operator died").containsExactly(DrainPhase.EMPTYING, DrainPhase.EMPTY);
        assertThat(pool.onlyOn("evicted-default-2")).isZero();
        cluster.removePod("evicted-default-2");
        play(pool, () -> drains("evicted").isEmpty() && phase("evicted") == PoolPhase.READY);

        assertThat(pool.told()).contains("empty evicted-default-2").endsWith("cancel evicted-default-2");
        assertThat(pool.storagePods())
                .hasSize(3)
                .containsEntry("evicted-default-0", before.get("evicted-default-0"))
                .containsEntry("evicted-default-1", before.get("evicted-default-1"));
        assertThat(evict("evicted", "evicted-default-2")).as("it is a new one").isFalse();
        assertThat(events("evicted"))
                .contains(
                        EventReason.DRAIN_STARTED.text(),
                        EventReason.DRAIN_FINISHED.text(),
                        EventReason.DRAIN_HANDED_BACK.text())
                .doesNotContain(EventReason.DRAIN_CANCELLED.text(), EventReason.OBJECTS_DROPPED.text());
    }

    @Test
    void uncordonedInTheMiddleThePodStaysAndItsNodeTakesPartAgain() {
        ShrunkPool pool = ready("uncordoned", "{replicas: 3, storage: [{name: default, capacity: 1Gi}]}")
                .stuck(true);
        Map<String, String> before = pool.storagePods();
        cluster.cordon("uncordoned-node-1", true);
        play(pool, () -> pool.told().contains("empty uncordoned-default-1"));
        assertThat(message("uncordoned"))
                .startsWith("uncordoned-default-1 is being emptied, because its node uncordoned-node-1 is cordoned");

        cluster.cordon("uncordoned-node-1", false);
        play(pool, () -> drains("uncordoned").isEmpty());

        assertThat(pool.told()).startsWith("empty uncordoned-default-1").endsWith("cancel uncordoned-default-1");
        assertThat(pool.storagePods()).isEqualTo(before);
        assertThat(evict("uncordoned", "uncordoned-default-1")).isFalse();
        assertThat(events("uncordoned")).contains(EventReason.DRAIN_CANCELLED.text());
    }

    @Test
    void whatCannotBeMovedKeepsItsNodeFromMaintenanceForALimitedTime() {
        ShrunkPool pool = ready(
                        "limited",
                        "{drain: {nodeTimeout: 10s}, replicas: 3, storage: [{name: default, capacity: 1Gi}]}")
                .stuck(true);
        cluster.cordon("limited-node-0", true);

        play(pool, () -> evict("limited", "limited-default-0"));

        assertThat(pool.onlyOn("limited-default-0")).isPositive();
        assertThat(drains("limited")).extracting(DrainStatus::phase).containsExactly(DrainPhase.DROPPED);
        assertThat(condition("limited").reason()).isEqualTo(Reason.MAY_BE_EVICTED.text());
        assertThat(events("limited")).contains(EventReason.OBJECTS_DROPPED.text());
    }

    /** A pool with one storage node on each node of the cluster. */
    private ShrunkPool ready(String name, String spec) {
        operator.applyPool(name, spec);
        await().atMost(LIMIT).until(() -> {
            var status = operator.pool(name).getStatus();
            return status != null && !status.conditions().isEmpty();
        });
        ShrunkPool pool = new ShrunkPool(operator, NAMESPACE, name);
        pool.run();
        for (int ordinal = 0; ordinal < STORAGE_NODES; ordinal++) {
            nodes.add(name + "-node-" + ordinal);
            cluster.addNode(nodes.getLast(), Map.of());
            cluster.schedule(name + "-default-" + ordinal, nodes.getLast());
        }
        play(pool, () -> phase(name) == PoolPhase.READY);
        return pool;
    }

    private static void play(ShrunkPool pool, BooleanSupplier until) {
        await().atMost(LIMIT).pollInterval(LOOK).until(() -> {
            pool.look();
            return until.getAsBoolean();
        });
    }

    private static boolean evict(String pool, String pod) {
        cluster.count(pool + "-storage", STORAGE_NODES);
        return cluster.evict(pod);
    }

    private static List<DrainStatus> drains(String pool) {
        return operator.pool(pool).getStatus().drains();
    }

    private static PoolPhase phase(String pool) {
        return operator.pool(pool).getStatus().phase();
    }

    private static String message(String pool) {
        return condition(pool).message();
    }

    private static Condition condition(String pool) {
        return operator.pool(pool).getStatus().conditions().stream()
                .filter(condition -> condition.type().equals("Draining"))
                .findFirst()
                .orElseThrow();
    }

    private static List<String> events(String pool) {
        return operator.client().resources(Event.class).inNamespace(NAMESPACE).list().getItems().stream()
                .filter(event -> event.getRegarding().getName().equals(pool))
                .map(Event::getReason)
                .toList();
    }
}
