// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Reason;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What users ask for by {@code kubectl kvpool drain} and {@code failover}, as annotations on a real API server with scripted masters. */
class RequestsLifecycleTest {
    private static final String STORAGE = "replicas: 3, storage: [{name: default, capacity: 1Gi}]";

    /** A calm pool is not looked at again, so that it is the annotation that wakes the operator. */
    @RegisterExtension
    static final OperatorUnderTest OPERATOR =
            OperatorUnderTest.in("requests").looking(Duration.ofMinutes(10), Duration.ofMillis(200));

    @Test
    void aStorageNodeIsEmptiedThroughAnOperatorThatDiesAndStaysSoUntilThatIsTakenBack() {
        PoolUnderTest pool = ready("drained");
        Map<String, String> before = pool.storagePods();
        try (OperatorDeaths<StepState> deaths = new OperatorDeaths<>(OPERATOR, pool, RequestsLifecycleTest::drains)) {
            drain(pool, "drained-default-1");
            deaths.play(() -> pool.has(Reason.EMPTIED_BY_HAND));
            pool.annotate("example.com/note", "wakes the operator");
            deaths.play(() -> deaths.seen().contains(StepState.EMPTY));

            assertThat(deaths.seen()).containsExactly(StepState.UNDER_WAY, StepState.EMPTY);
        }
        assertThat(pool.onlyOn("drained-default-1")).isZero();
        assertThat(pool.message(ConditionType.DRAINING))
                .isEqualTo(
                        "drained-default-1 is empty, as a user asked, and takes no objects until kubectl kvpool drain with --cancel.");
        assertThat(pool.told()).doesNotContain("cancel drained-default-1");
        assertThat(pool.phase()).isEqualTo(PoolPhase.READY);

        pool.annotate(PoolLabels.DRAIN, null);
        pool.play(() -> pool.status().steps().isEmpty());

        assertThat(pool.told()).startsWith("empty drained-default-1").endsWith("cancel drained-default-1");
        assertThat(pool.storagePods()).isEqualTo(before);
        assertThat(pool.has(Reason.NO_DRAIN)).isTrue();
        assertThat(pool.events())
                .contains(
                        EventReason.DRAIN_STARTED.text(),
                        EventReason.DRAIN_FINISHED.text(),
                        EventReason.DRAIN_CANCELLED.text());
    }

    @Test
    void anotherMasterLeadsOnceThroughAnOperatorThatDies() {
        PoolUnderTest pool = ready("handed");
        String leader = pool.leader();
        try (OperatorDeaths<StepKind> deaths = new OperatorDeaths<>(
                OPERATOR, pool, status -> status.steps().stream().map(StepStatus::kind))) {
            failover(pool);
            deaths.play(() -> pool.status().steps().isEmpty()
                    && !pool.status().leader().pod().equals(leader));

            assertThat(deaths.seen()).containsExactly(StepKind.HAND_OVER);
        }
        assertThat(pool.status().leader().pod()).isEqualTo(pool.leader());
        assertThat(pool.events()).contains(EventReason.HANDOVER_STARTED.text());

        long epoch = pool.status().leader().epoch();
        OPERATOR.restart();
        pool.apply("{drain: {timeout: 20m}, " + STORAGE + "}");
        pool.play(() -> pool.has(Reason.NO_DRAIN));
        assertThat(pool.status().leader().epoch())
                .as("the request is about the leadership before")
                .isEqualTo(epoch);
        assertThat(pool.status().steps()).isEmpty();
    }

    @Test
    void anUpgradeGoesOnBesideBothAndTheEmptyNodeStaysEmpty() {
        PoolUnderTest pool = ready("upgraded");
        drain(pool, "upgraded-default-0");
        pool.play(() -> pool.has(Reason.EMPTIED_BY_HAND));
        Map<String, String> before = pool.storagePods();

        failover(pool);
        pool.apply("{version: 0.2.0, " + STORAGE + "}");
        pool.play(() -> "kvpool:0.2.0".equals(pool.status().version().lastStable())
                && pool.status().roll() == null);

        assertThat(pool.images()).containsExactly("kvpool:0.2.0");
        assertThat(pool.restarted()).hasSize(5).doesNotHaveDuplicates();
        assertThat(pool.storagePods()).isEqualTo(before);
        pool.play(() -> pool.has(Reason.EMPTIED_BY_HAND));
        assertThat(pool.status().steps()).singleElement().satisfies(step -> {
            assertThat(step.of()).isEqualTo("upgraded-default-0");
            assertThat(step.because()).isEqualTo(StepCause.REQUEST);
            assertThat(step.state()).isEqualTo(StepState.EMPTY);
        });
        assertThat(pool.told()).doesNotContain("cancel upgraded-default-0");
    }

    private static Stream<StepState> drains(KvCachePoolStatus status) {
        return status.steps().stream()
                .filter(step -> step.because() == StepCause.REQUEST && step.kind() == StepKind.EMPTY)
                .map(StepStatus::state);
    }

    private static void drain(PoolUnderTest pool, String node) {
        pool.annotate(PoolLabels.DRAIN, node + "=" + pool.storagePods().get(node));
    }

    private static void failover(PoolUnderTest pool) {
        pool.annotate(PoolLabels.FAILOVER, Long.toString(pool.status().leader().epoch()));
    }

    private static PoolUnderTest ready(String name) {
        return OPERATOR.make(name, "{" + STORAGE + "}").ready();
    }
}
