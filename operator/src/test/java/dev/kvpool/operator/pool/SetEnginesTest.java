// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.EngineUse;
import dev.kvpool.api.v1alpha1.status.ReadyCount;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.report.PoolStatus;
import dev.kvpool.operator.pool.validate.PoolValidator;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A pool whose storage sets use different transfer engines. */
class SetEnginesTest {
    private static final String TWO =
            "{transferEngine: demo, storage: [{name: a, capacity: 1Gi, replicas: 2}, {name: b, capacity: 1Gi, transferEngine: cards}]}";

    /** Each storage node offers those of its set. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[shm, tcp] | [ucx, tcp] | shm,ucx,tcp",
                "[tcp] | [ucx, tcp] | ucx,tcp",
                "[tcp] | [tcp, ucx, shm] | shm,ucx,tcp",
                "[ucx, shm, tcp] | [tcp] | ucx,shm,tcp",
                "[tcp, shm] | [tcp] | tcp,shm",
                "[tcp] | [ascend, tcp], accelerator: {chip: A2} | ascend,tcp",
                "[ascend], accelerator: {chip: A2} | [shm, ascend], accelerator: {chip: A2} | ascend,shm",
            })
    void clientsAskForWhatAnySetOffers(String ofPool, String ofSet, String asked) {
        PoolSketch sketch = new PoolSketch(TWO)
                .engine("{protocols: %s}".formatted(ofPool))
                .engine("cards", "{protocols: %s}".formatted(ofSet));

        assertThat(child(sketch, ConfigMap.class, "demo-client").getData()).containsEntry("KVPOOL_PROTOCOLS", asked);
    }

    @Test
    void agentsReachTheSocketsOfEachSet() {
        PoolSketch sketch = new PoolSketch(TWO)
                .engine("{socketDirectory: /run/one, agents: {}}")
                .engine("cards", "{socketDirectory: /run/two, agents: {path: /run/none}}");

        assertThat(child(sketch, DaemonSet.class, "demo-agent")
                        .getSpec()
                        .getTemplate()
                        .getSpec()
                        .getContainers()
                        .getFirst()
                        .getVolumeMounts())
                .extracting(VolumeMount::getMountPath)
                .contains("/run/one/ns.demo", "/run/two/ns.demo")
                .noneMatch(path -> path.startsWith("/run/none"));
    }

    @Test
    void aMissingEngineIsNamedWithTheSetThatNamesIt() {
        PoolSketch sketch = new PoolSketch(TWO).engine("{}");

        assertThat(PoolValidator.validate(sketch.observation(), PoolSketch.SETTINGS))
                .containsExactly(new Finding(
                        Reason.TRANSFER_ENGINE_MISSING,
                        "There is no TransferEngine cards in namespace ns. Create it, or change or remove transferEngine of storage set"
                                + " b. Until then the pool is not changed."));
        assertThat(sketch.plan().apply()).isEmpty();
    }

    @Test
    void whatOneSetCannotHaveIsNamedForItAlone() {
        PoolSketch sketch = new PoolSketch(
                        "{transferEngine: demo, storage: [{name: a, capacity: 1025Mi}, {name: b, capacity: 1025Mi, transferEngine: cards}]}")
                .engine("{}")
                .engine("cards", "{memory: {hugePages: 2Mi}}");

        assertThat(PoolValidator.validate(sketch.observation(), PoolSketch.SETTINGS))
                .extracting(Finding::reason)
                .containsExactly(Reason.CAPACITY_NOT_IN_PAGES);
        assertThat(PoolValidator.validate(sketch.observation(), PoolSketch.SETTINGS))
                .extracting(Finding::message)
                .first()
                .asString()
                .startsWith("Storage set b ");
    }

    @Test
    void theStatusCountsStorageNodesByEngine() {
        PoolSketch sketch = new PoolSketch(TWO)
                .engine("{}")
                .engine("cards", "{protocols: [ucx, tcp]}")
                .set("a", 2)
                .set("b", 1)
                .masters(2, 1, PoolSketch.leader(List.of(node("demo-a-0"), node("demo-b-0"))));

        assertThat(uses(sketch))
                .containsExactly(
                        new EngineUse("demo", ReadyCount.of(1, 2), List.of("tcp")),
                        new EngineUse("cards", ReadyCount.of(1, 1), List.of("tcp")));
        assertThat(uses(new PoolSketch("{transferEngine: demo, storage: [{name: a, capacity: 1Gi}]}").engine("{}")))
                .isEmpty();
    }

    private static List<EngineUse> uses(PoolSketch sketch) {
        return new PoolStatus(PoolSketch.SETTINGS)
                .next(sketch.observation(), List.of(), sketch.plan(), new Outcome(List.of(), List.of()))
                .engines();
    }

    private static PoolReport.Node node(String id) {
        return Reports.node(id, "ready").build();
    }

    private static <T> T child(PoolSketch sketch, Class<T> kind, String name) {
        return sketch.plan().apply().stream()
                .filter(child ->
                        kind.isInstance(child) && child.getMetadata().getName().equals(name))
                .map(kind::cast)
                .findFirst()
                .orElseThrow();
    }
}
