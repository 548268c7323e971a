// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Storage nodes that go, on a real API server with a scripted leader: emptied before, and back when that is taken back. */
class DrainLifecycleTest {
    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in("drains");

    @Test
    void aPoolShrinksThroughAnOperatorThatDiesAtEachStep() {
        PoolUnderTest pool = ready("whole", scaled(3));
        try (OperatorDeaths<StepState> deaths = new OperatorDeaths<>(OPERATOR, pool, DrainLifecycleTest::states)) {
            pool.scale(2);
            deaths.play(() ->
                    pool.storagePods().size() == 2 && pool.status().steps().isEmpty());

            assertThat(deaths.seen()).containsExactly(StepState.UNDER_WAY, StepState.EMPTY);
        }
        assertThat(pool.told()).contains("empty whole-default-2").endsWith("cancel whole-default-2");
        assertThat(pool.storagePods()).containsOnlyKeys("whole-default-0", "whole-default-1");
        pool.awaitExpectedNodes("whole-default-0\nwhole-default-1\n");
        pool.awaitPhase(PoolPhase.READY);
        assertThat(pool.events())
                .contains(EventReason.DRAIN_STARTED.text(), EventReason.DRAIN_FINISHED.text())
                .doesNotContain(EventReason.DRAIN_CANCELLED.text());
    }

    @Test
    void aPoolThatGrowsAgainInTheMiddleKeepsItsPodsAndItsNodeTakesPartAgain() {
        PoolUnderTest pool = ready("cancelled", scaled(3)).stuck();
        Map<String, String> before = pool.storagePods();
        pool.scale(2);
        pool.play(() -> pool.told().contains("empty cancelled-default-2"));

        pool.scale(3);
        pool.play(() -> pool.status().steps().isEmpty() && pool.phase() == PoolPhase.READY);

        assertThat(pool.told()).startsWith("empty cancelled-default-2").contains("cancel cancelled-default-2");
        assertThat(pool.storagePods()).isEqualTo(before);
        assertThat(pool.events()).contains(EventReason.DRAIN_CANCELLED.text());
    }

    @Test
    void aRemovedSetIsEmptiedBeforeItGoes() {
        PoolUnderTest pool =
                ready("sets", "{storage: [{name: a, capacity: 1Gi}, {name: b, capacity: 1Gi, replicas: 2}]}");
        pool.apply("{storage: [{name: a, capacity: 1Gi}]}");

        pool.play(() -> pool.storagePods().size() == 1 && pool.status().steps().isEmpty());

        assertThat(pool.told())
                .contains("empty sets-b-0", "empty sets-b-1")
                .noneMatch(told -> told.endsWith("sets-a-0"));
        assertThat(pool.set("b")).isNull();
    }

    @Test
    void anotherCapacityRecreatesOneNodeAfterTheOtherThroughAnOperatorThatDies() {
        String spec = "{onDataLoss: Move, replicas: 2, storage: [{name: default, capacity: %s}]}";
        PoolUnderTest pool = ready("larger", spec.formatted("1Gi"));
        Map<String, String> before = pool.storagePods();
        try (OperatorDeaths<StepState> deaths = new OperatorDeaths<>(OPERATOR, pool, DrainLifecycleTest::states)) {
            pool.apply(spec.formatted("2Gi"));
            deaths.play(() -> {
                assertThat(pool.status().steps())
                        .as("at a time")
                        .filteredOn(step -> step.state() != StepState.WAITING)
                        .hasSizeLessThanOrEqualTo(1);
                return pool.storagePods().size() == 2
                        && pool.storagePods().values().stream().noneMatch(before::containsValue)
                        && pool.status().steps().isEmpty()
                        && pool.phase() == PoolPhase.READY;
            });

            assertThat(deaths.seen()).containsExactly(StepState.UNDER_WAY, StepState.WAITING);
        }
        assertThat(pool.told().stream().distinct())
                .containsExactly(
                        "empty larger-default-1",
                        "cancel larger-default-1",
                        "empty larger-default-0",
                        "cancel larger-default-0");
        assertThat(pool.has(Reason.APPLIED)).isTrue();
        assertThat(pool.events())
                .contains(EventReason.SETTINGS_STEP.text())
                .doesNotContain(EventReason.HELD_BACK.text(), EventReason.OBJECTS_DROPPED.text());
    }

    @Test
    void leftoversAreToldAndWaitedForUntilTheSpecDropsThem() {
        PoolUnderTest pool = ready(
                        "left", "{drain: {timeout: 10s}, replicas: 2, storage: [{name: default, capacity: 1Gi}]}")
                .stuck();
        pool.scale(1);

        pool.play(() -> pool.has(Reason.LEFTOVERS));
        assertThat(pool.message(ConditionType.DRAINING))
                .contains("left-default-1", "100 objects of about 100Mi have no other place: no node has room");
        assertThat(pool.storagePods()).hasSize(2);
        assertThat(pool.events()).contains(EventReason.DRAIN_LEFTOVERS.text());

        pool.apply(
                "{drain: {timeout: 10s, onLeftovers: Drop}, replicas: 1, storage: [{name: default, capacity: 1Gi}]}");
        pool.play(() -> pool.storagePods().size() == 1 && pool.status().steps().isEmpty());
        assertThat(pool.events()).contains(EventReason.OBJECTS_DROPPED.text());
        assertThat(pool.told()).as("for a later node of its name").contains("cancel left-default-1");
    }

    @Test
    void whatAnAutoscalerReadsAndWritesIsTheSetWithoutANumberOfItsOwn() {
        PoolUnderTest pool = ready("scaled", scaled(2));

        pool.play(() -> pool.scale().getStatus().getReplicas() == 2);
        assertThat(pool.scale().getSpec().getReplicas()).isEqualTo(2);
        assertThat(pool.scale().getStatus().getSelector())
                .isEqualTo("kvpool.dev/pool=scaled,kvpool.dev/role=storage,kvpool.dev/set=default");

        pool.scale(3);
        pool.play(() -> pool.scale().getStatus().getReplicas() == 3 && pool.phase() == PoolPhase.READY);
        assertThat(pool.get().getSpec().replicas())
                .as("the operator does not take it back")
                .isEqualTo(3);
        assertThatThrownBy(() -> pool.scale(0))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("spec.replicas");
    }

    private static Stream<StepState> states(KvCachePoolStatus status) {
        return status.steps().stream().map(StepStatus::state);
    }

    private static String scaled(int replicas) {
        return "{replicas: %d, storage: [{name: default, capacity: 1Gi}]}".formatted(replicas);
    }

    private static PoolUnderTest ready(String name, String spec) {
        return OPERATOR.make(name, spec).ready();
    }
}
