// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Kubernetes nodes that are drained, on a real API server with a scripted leader: evictions, which the API server itself
 * refuses or carries out, wait until storage nodes are empty.
 */
class NodeDrainLifecycleTest {
    private static final String NAMESPACE = "node-drains";
    private static final int STORAGE_NODES = 3;
    private static final String SPEC = "{%s replicas: 3, storage: [{name: default, capacity: 1Gi}]}";

    /** A calm pool is not looked at again, so that it is the cordon that wakes the operator. */
    @RegisterExtension
    static final OperatorUnderTest OPERATOR =
            OperatorUnderTest.in(NAMESPACE).looking(Duration.ofMinutes(10), Duration.ofMillis(200));

    /** An eviction that is refused is not tried again by the client. */
    private static KubernetesClient impatient;

    private static ClusterActor cluster;

    @BeforeAll
    static void start() {
        impatient = ApiServer.shared().client(new Interceptor() {});
        cluster = new ClusterActor(impatient, NAMESPACE);
    }

    @AfterAll
    static void stop() {
        cluster.removeNodes();
        impatient.close();
    }

    @Test
    void aPodIsEvictedWhenItIsEmptyThroughAnOperatorThatDiesAtEachStepAndTakesPartAgain() {
        PoolUnderTest pool = ready("evicted", SPEC.formatted(""));
        Map<String, String> before = pool.storagePods();
        assertThat(evict("evicted", 2)).as("no node is cordoned").isFalse();

        try (OperatorDeaths<StepState> deaths = new OperatorDeaths<>(
                OPERATOR, pool, status -> status.steps().stream().map(StepStatus::state))) {
            cluster.cordon("evicted-node-2", true);
            deaths.play(() -> {
                assertThat(evict("evicted", 0)).as("it is on another node").isFalse();
                return evict("evicted", 2);
            });

            assertThat(deaths.seen()).containsExactly(StepState.UNDER_WAY, StepState.EMPTY);
        }
        assertThat(pool.onlyOn("evicted-default-2")).isZero();
        cluster.removePod("evicted-default-2");
        pool.play(() -> pool.status().steps().isEmpty() && pool.phase() == PoolPhase.READY);

        assertThat(pool.told()).contains("empty evicted-default-2").endsWith("cancel evicted-default-2");
        assertThat(pool.storagePods())
                .hasSize(3)
                .containsEntry("evicted-default-0", before.get("evicted-default-0"))
                .containsEntry("evicted-default-1", before.get("evicted-default-1"));
        assertThat(evict("evicted", 2)).as("it is a new one").isFalse();
        assertThat(pool.events())
                .contains(
                        EventReason.DRAIN_STARTED.text(),
                        EventReason.DRAIN_FINISHED.text(),
                        EventReason.DRAIN_HANDED_BACK.text())
                .doesNotContain(EventReason.DRAIN_CANCELLED.text(), EventReason.OBJECTS_DROPPED.text());
    }

    @Test
    void uncordonedInTheMiddleThePodStaysAndItsNodeTakesPartAgain() {
        PoolUnderTest pool = ready("uncordoned", SPEC.formatted("")).stuck();
        Map<String, String> before = pool.storagePods();
        cluster.cordon("uncordoned-node-1", true);
        pool.play(() -> pool.told().contains("empty uncordoned-default-1"));
        assertThat(pool.message(ConditionType.DRAINING))
                .startsWith("uncordoned-default-1 is being emptied, because its node uncordoned-node-1 is cordoned");

        cluster.cordon("uncordoned-node-1", false);
        pool.play(() -> pool.status().steps().isEmpty());

        assertThat(pool.told()).startsWith("empty uncordoned-default-1").endsWith("cancel uncordoned-default-1");
        assertThat(pool.storagePods()).isEqualTo(before);
        assertThat(evict("uncordoned", 1)).isFalse();
        assertThat(pool.events()).contains(EventReason.DRAIN_CANCELLED.text());
    }

    @Test
    void whatCannotBeMovedKeepsItsNodeFromMaintenanceForALimitedTime() {
        PoolUnderTest pool =
                ready("limited", SPEC.formatted("drain: {nodeTimeout: 10s},")).stuck();
        cluster.cordon("limited-node-0", true);

        pool.play(() -> evict("limited", 0));

        assertThat(pool.onlyOn("limited-default-0")).isPositive();
        assertThat(pool.status().steps()).extracting(StepStatus::state).containsExactly(StepState.DROPPED);
        assertThat(pool.has(Reason.MAY_BE_EVICTED)).isTrue();
        assertThat(pool.events()).contains(EventReason.OBJECTS_DROPPED.text());
    }

    /** A pool with one storage node on each of its own Kubernetes nodes, so that none minds what is done to another. */
    private static PoolUnderTest ready(String name, String spec) {
        PoolUnderTest pool = OPERATOR.make(name, spec).run();
        for (int ordinal = 0; ordinal < STORAGE_NODES; ordinal++) {
            cluster.addNode(name + "-node-" + ordinal, Map.of());
            cluster.schedule(name + "-default-" + ordinal, name + "-node-" + ordinal);
        }
        return pool.ready();
    }

    private static boolean evict(String pool, int ordinal) {
        cluster.count(pool + "-storage", STORAGE_NODES);
        return cluster.evict(pool + "-default-" + ordinal);
    }
}
