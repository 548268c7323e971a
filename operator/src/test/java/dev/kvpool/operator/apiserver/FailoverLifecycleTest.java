// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.Condition;
import dev.kvpool.api.v1alpha1.FailoverCause;
import dev.kvpool.api.v1alpha1.FailoverStatus;
import dev.kvpool.api.v1alpha1.PoolPhase;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.report.PollInterval;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A leader whose container ends, on a real API server: the kubelet's word reaches the standby, and what followed is said once. */
class FailoverLifecycleTest {
    private static final String NAMESPACE = "failover";
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final List<String> NODES = List.of("demo-default-0");

    /** Nothing is looked at again by itself within the test, so that it is the pod's change that wakes the operator. */
    private static final Duration RARELY = Duration.ofHours(1);

    private static OperatorUnderTest operator;
    private static ClusterActor cluster;

    @BeforeAll
    static void start() {
        operator = new OperatorUnderTest(NAMESPACE, new PollInterval(RARELY, RARELY));
        cluster = new ClusterActor(operator.client(), NAMESPACE);
    }

    @AfterAll
    static void stop() {
        operator.close();
    }

    @Test
    void theStandbyIsToldAndTheStatusTellsWhatFollowed() {
        operator.applyPool("demo", "{storage: [{name: default, capacity: 1Gi}]}");
        await().atMost(LIMIT)
                .until(() -> Children.of(operator.client(), NAMESPACE, "demo").size() == 15);
        operator.masters().say("demo-master-0", ScriptedMasters.leader("demo-master-0", 4, 0, NODES));
        operator.masters().say("demo-master-1", ScriptedMasters.standby("demo-master-1", 4));
        cluster.runPodsOf("demo-master");
        cluster.runPodsOf("demo-default");
        cluster.takeLease("demo-master", "demo-master-0", 4);
        awaitPhase(PoolPhase.READY);
        assertThat(operator.pool("demo").getStatus().lastFailover()).isNull();
        assertThat(operator.masters().goneLeaders()).isEmpty();

        operator.masters().silence("demo-master-0");
        cluster.endContainer("demo-master-0", 137);

        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(operator.masters().goneLeaders())
                        .first()
                        .isEqualTo("10.0.0.2 is told: demo-master-0_0123456789abcdef in epoch 4 at 10.0.0.1:50051"));
        await().atMost(LIMIT).until(() -> has(Reason.LEADER_DIED));

        operator.masters().say("demo-master-1", after(ScriptedMasters.leader("demo-master-1", 5, 0, NODES)));
        cluster.takeLease("demo-master", "demo-master-1", 5);
        awaitPhase(PoolPhase.DEGRADED);

        FailoverStatus expected = new FailoverStatus(
                5L, "2026-01-01T00:00:00Z", "demo-master-0", "demo-master-1", FailoverCause.LEADER_DIED, "57ms");
        assertThat(operator.pool("demo").getStatus().lastFailover()).isEqualTo(expected);
        assertThat(cluster.isLabelledLeader("demo-master-1")).isTrue();
        int told = operator.masters().goneLeaders().size();
        operator.restart();
        cluster.runAgain("demo-master-0");
        operator.masters().say("demo-master-0", ScriptedMasters.standby("demo-master-0", 5));
        operator.applyPool("demo", "{paused: true, storage: [{name: default, capacity: 1Gi}]}");
        awaitPhase(PoolPhase.PAUSED);
        assertThat(operator.pool("demo").getStatus().lastFailover()).isEqualTo(expected);
        assertThat(operator.masters().goneLeaders()).hasSize(told);
        assertThat(events(EventReason.LEADER_DIED)).hasSize(1);
        assertThat(events(EventReason.FAILED_OVER))
                .containsExactly(
                        "demo-master-1 leads in epoch 5 after demo-master-0: the leader died. Nobody led for 57ms.");
    }

    private static PoolReport after(PoolReport leader) {
        return Reports.after(
                new PoolReport.Takeover(leader.epoch(), "died", "demo-master-0", 57, "2026-01-01T00:00:00.5Z"), leader);
    }

    private static void awaitPhase(PoolPhase phase) {
        await().atMost(LIMIT)
                .untilAsserted(() ->
                        assertThat(operator.pool("demo").getStatus().phase()).isEqualTo(phase));
    }

    private static boolean has(Reason reason) {
        return operator.pool("demo").getStatus().conditions().stream()
                .map(Condition::reason)
                .anyMatch(reason.text()::equals);
    }

    private static List<String> events(EventReason reason) {
        return operator.client().resources(Event.class).inNamespace(NAMESPACE).list().getItems().stream()
                .filter(event -> event.getReason().equals(reason.text()))
                .map(Event::getNote)
                .toList();
    }
}
