// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.Condition;
import dev.kvpool.api.v1alpha1.DrainPhase;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.PoolPhase;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.pool.report.PollInterval;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.autoscaling.v1.Scale;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Storage nodes that go, on a real API server with a scripted leader: emptied before, and back when the wish is taken back. */
class DrainLifecycleTest {
    private static final String NAMESPACE = "drains";
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration LOOK = Duration.ofMillis(100);

    private static OperatorUnderTest operator;

    @BeforeAll
    static void start() {
        operator = new OperatorUnderTest(NAMESPACE, new PollInterval(Duration.ofMillis(500), Duration.ofMillis(200)));
    }

    @AfterAll
    static void stop() {
        operator.close();
    }

    @Test
    void aPoolShrinksThroughAnOperatorThatDiesAtEachStep() {
        ShrunkPool pool = ready("whole", scaled(3));
        scale("whole", 2);

        List<DrainPhase> seen = new ArrayList<>();
        play(pool, () -> {
            Optional<DrainPhase> now =
                    drains("whole").stream().map(DrainStatus::phase).findFirst();
            if (now.filter(phase -> !seen.contains(phase)).isPresent()) {
                seen.add(now.get());
                operator.restart();
            }
            return !seen.isEmpty()
                    && pool.storagePods().size() == 2
                    && drains("whole").isEmpty();
        });

        assertThat(seen).as("phases in which the operator died").containsExactly(DrainPhase.EMPTYING, DrainPhase.EMPTY);
        assertThat(pool.told()).contains("empty whole-default-2").endsWith("cancel whole-default-2");
        assertThat(pool.storagePods()).containsOnlyKeys("whole-default-0", "whole-default-1");
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(Children.expectedNodes(operator.client(), NAMESPACE, "whole"))
                        .isEqualTo("whole-default-0\nwhole-default-1\n"));
        await().atMost(LIMIT).until(() -> phase("whole") == PoolPhase.READY);
        assertThat(events("whole"))
                .contains(EventReason.DRAIN_STARTED.text(), EventReason.DRAIN_FINISHED.text())
                .doesNotContain(EventReason.DRAIN_CANCELLED.text());
    }

    @Test
    void aPoolThatGrowsAgainInTheMiddleKeepsItsPodsAndItsNodeTakesPartAgain() {
        ShrunkPool pool = ready("cancelled", scaled(3)).stuck(true);
        Map<String, String> before = pool.storagePods();
        scale("cancelled", 2);
        play(pool, () -> pool.told().contains("empty cancelled-default-2"));

        scale("cancelled", 3);
        play(pool, () -> drains("cancelled").isEmpty() && phase("cancelled") == PoolPhase.READY);

        assertThat(pool.told()).startsWith("empty cancelled-default-2").contains("cancel cancelled-default-2");
        assertThat(pool.storagePods()).isEqualTo(before);
        assertThat(events("cancelled")).contains(EventReason.DRAIN_CANCELLED.text());
    }

    @Test
    void aRemovedSetIsEmptiedBeforeItGoes() {
        ShrunkPool pool = ready("sets", "{storage: [{name: a, capacity: 1Gi}, {name: b, capacity: 1Gi, replicas: 2}]}");
        operator.applyPool("sets", "{storage: [{name: a, capacity: 1Gi}]}");

        play(pool, () -> pool.storagePods().size() == 1 && drains("sets").isEmpty());

        assertThat(pool.told())
                .contains("empty sets-b-0", "empty sets-b-1")
                .noneMatch(told -> told.endsWith("sets-a-0"));
        assertThat(operator.client()
                        .apps()
                        .statefulSets()
                        .inNamespace(NAMESPACE)
                        .withName("sets-b")
                        .get())
                .isNull();
    }

    @Test
    void anotherCapacityMakesOneNodeAfterTheOtherAnewThroughAnOperatorThatDies() {
        String spec = "{onDataLoss: Move, replicas: 2, storage: [{name: default, capacity: %s}]}";
        ShrunkPool pool = ready("larger", spec.formatted("1Gi"));
        Map<String, String> before = pool.storagePods();
        operator.applyPool("larger", spec.formatted("2Gi"));

        List<DrainPhase> seen = new ArrayList<>();
        play(pool, () -> {
            assertThat(drains("larger")).as("at a time").hasSizeLessThanOrEqualTo(1);
            drains("larger").stream()
                    .map(DrainStatus::phase)
                    .filter(phase -> !seen.contains(phase))
                    .forEach(phase -> {
                        seen.add(phase);
                        operator.restart();
                    });
            return pool.storagePods().size() == 2
                    && pool.storagePods().values().stream().noneMatch(before::containsValue)
                    && drains("larger").isEmpty()
                    && phase("larger") == PoolPhase.READY;
        });

        assertThat(seen)
                .as("phases in which the operator died")
                .containsExactly(DrainPhase.EMPTYING, DrainPhase.EMPTY, DrainPhase.BACK);
        assertThat(pool.told().stream().distinct())
                .containsExactly(
                        "empty larger-default-0",
                        "cancel larger-default-0",
                        "empty larger-default-1",
                        "cancel larger-default-1");
        assertThat(reason("larger", "SpecApplied")).contains(Reason.APPLIED.text());
        assertThat(events("larger"))
                .contains(EventReason.DRAIN_HANDED_BACK.text())
                .doesNotContain(EventReason.HELD_BACK.text(), EventReason.OBJECTS_DROPPED.text());
    }

    @Test
    void leftoversAreToldAndWaitedForUntilTheSpecDropsThem() {
        ShrunkPool pool = ready(
                        "left", "{drain: {timeout: 10s}, replicas: 2, storage: [{name: default, capacity: 1Gi}]}")
                .stuck(true);
        scale("left", 1);

        play(pool, () -> reason("left", "Draining").equals(Optional.of(Reason.LEFTOVERS.text())));
        assertThat(condition("left", "Draining").orElseThrow().message())
                .contains("left-default-1", "100 objects of about 100Mi have no other place: no node has room");
        assertThat(pool.storagePods()).hasSize(2);
        assertThat(events("left")).contains(EventReason.DRAIN_LEFTOVERS.text());

        operator.applyPool(
                "left",
                "{drain: {timeout: 10s, onLeftovers: Drop}, replicas: 1, storage: [{name: default, capacity: 1Gi}]}");
        play(pool, () -> pool.storagePods().size() == 1 && drains("left").isEmpty());
        assertThat(events("left")).contains(EventReason.OBJECTS_DROPPED.text());
        assertThat(pool.told()).as("for a later node of its name").contains("cancel left-default-1");
    }

    @Test
    void whatAnAutoscalerReadsAndWritesIsTheSetWithoutANumberOfItsOwn() {
        ShrunkPool pool = ready("scaled", scaled(2));

        play(pool, () -> scaleOf("scaled").getStatus().getReplicas() == 2);
        assertThat(scaleOf("scaled").getSpec().getReplicas()).isEqualTo(2);
        assertThat(scaleOf("scaled").getStatus().getSelector())
                .isEqualTo("kvpool.dev/pool=scaled,kvpool.dev/role=storage,kvpool.dev/set=default");

        scale("scaled", 3);
        play(pool, () -> scaleOf("scaled").getStatus().getReplicas() == 3 && phase("scaled") == PoolPhase.READY);
        assertThat(operator.pool("scaled").getSpec().replicas())
                .as("nobody takes it back")
                .isEqualTo(3);
        assertThatThrownBy(() -> scale("scaled", 0))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("spec.replicas");
    }

    private static String scaled(int replicas) {
        return "{replicas: %d, storage: [{name: default, capacity: 1Gi}]}".formatted(replicas);
    }

    private static ShrunkPool ready(String name, String spec) {
        operator.applyPool(name, spec);
        await().atMost(LIMIT).until(() -> reason(name, "Ready").isPresent());
        ShrunkPool pool = new ShrunkPool(operator, NAMESPACE, name);
        pool.run();
        play(pool, () -> phase(name) == PoolPhase.READY);
        return pool;
    }

    private static void play(ShrunkPool pool, BooleanSupplier until) {
        await().atMost(LIMIT).pollInterval(LOOK).until(() -> {
            pool.look();
            return until.getAsBoolean();
        });
    }

    private static void scale(String pool, int replicas) {
        operator.client()
                .resources(KvCachePool.class)
                .inNamespace(NAMESPACE)
                .withName(pool)
                .scale(replicas);
    }

    private static Scale scaleOf(String pool) {
        return operator.client()
                .resources(KvCachePool.class)
                .inNamespace(NAMESPACE)
                .withName(pool)
                .scale();
    }

    private static List<DrainStatus> drains(String pool) {
        return operator.pool(pool).getStatus().drains();
    }

    private static PoolPhase phase(String pool) {
        return operator.pool(pool).getStatus().phase();
    }

    private static Optional<String> reason(String pool, String type) {
        return condition(pool, type).map(Condition::reason);
    }

    private static Optional<Condition> condition(String pool, String type) {
        KvCachePool actual = operator.pool(pool);
        return actual.getStatus() == null
                ? Optional.empty()
                : actual.getStatus().conditions().stream()
                        .filter(condition -> condition.type().equals(type))
                        .findFirst();
    }

    private static List<String> events(String pool) {
        return operator.client().resources(Event.class).inNamespace(NAMESPACE).list().getItems().stream()
                .filter(event -> event.getRegarding().getName().equals(pool))
                .map(Event::getReason)
                .toList();
    }
}
