// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.EngineUse;
import dev.kvpool.api.v1alpha1.status.ReadyCount;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Storage sets of one pool with transfer engines of their own, on a real API server. */
class SetEnginesLifecycleTest {
    private static final String SPEC = """
            {onDataLoss: Move, transferEngine: plain, storage: [
              {name: a, capacity: 1Gi, replicas: 2}, {name: b, capacity: 1Gi, replicas: 2, transferEngine: cards}]}
            """;

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in("set-engines");

    @Test
    void aChangedEngineReplacesStorageNodesOfItsSetsOnlyAndSaysWhenThatIsDone() {
        OPERATOR.applyEngine("plain", "{}");
        OPERATOR.applyEngine("cards", "{timeouts: {connect: 5s}}");
        PoolUnderTest pool = OPERATOR.make("demo", SPEC).ready();
        assertThat(arguments(pool.set("a"))).doesNotContain("--connect-timeout=5s");
        assertThat(arguments(pool.set("b"))).contains("--connect-timeout=5s");
        pool.play(() -> pool.status()
                .engines()
                .equals(List.of(
                        new EngineUse("plain", ReadyCount.of(2, 2), List.of("shm", "tcp")),
                        new EngineUse("cards", ReadyCount.of(2, 2), List.of("shm", "tcp")))));
        await().until(() -> progress("cards").equals(Optional.of(Reason.UP_TO_DATE.text())));
        Map<String, String> before = pool.storagePods();
        Set<String> said = new ConcurrentSkipListSet<>();

        OPERATOR.applyEngine("cards", "{timeouts: {connect: 6s}}");
        pool.play(() -> {
            progress("cards").ifPresent(said::add);
            return replaced(before, pool.storagePods()).equals(Set.of("demo-b-0", "demo-b-1"))
                    && pool.status().steps().isEmpty()
                    && progress("cards").equals(Optional.of(Reason.UP_TO_DATE.text()));
        });
        assertThat(said).contains(Reason.CARRYING_OUT.text());
        assertThat(pool.told()).anyMatch(told -> told.contains("demo-b-0")).noneMatch(told -> told.contains("demo-a-"));
        assertThat(arguments(pool.set("b"))).contains("--connect-timeout=6s");
    }

    @Test
    void aMissingEngineOfASetIsSaidUntilItIsThere() {
        PoolUnderTest pool = OPERATOR.make("early", "{storage: [{name: a, capacity: 1Gi, transferEngine: later}]}");
        assertThat(pool.awaitReason(Reason.TRANSFER_ENGINE_MISSING))
                .contains("no TransferEngine later", "storage set a");
        assertThat(pool.set("a")).isNull();

        OPERATOR.applyEngine("later", "{}");
        await().untilAsserted(() -> assertThat(pool.set("a")).isNotNull());
    }

    private static List<String> arguments(StatefulSet set) {
        return PoolUnderTest.container(set).getArgs();
    }

    /** Names of pods that are there as others than before. */
    private static Set<String> replaced(Map<String, String> before, Map<String, String> now) {
        Set<String> names = new TreeSet<>(now.keySet());
        names.removeIf(name -> now.get(name).equals(before.get(name)));
        return names;
    }

    private static Optional<String> progress(String engine) {
        TransferEngine now = OPERATOR.engine(engine);
        return Optional.ofNullable(now.getStatus())
                .flatMap(status -> status.conditions().stream()
                        .filter(condition -> condition.type().equals(ConditionType.PROGRESSING.text()))
                        .filter(condition -> condition.observedGeneration()
                                == (long) now.getMetadata().getGeneration())
                        .map(Condition::reason)
                        .findFirst());
    }
}
