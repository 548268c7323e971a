// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.plan.PoolPlan;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is on a claim is not given up because the pod that would give it away is not there at that moment. */
class DepartedPodsTest {
    private static final String A = "{name: a, capacity: 1Gi, replicas: %d, volume: {type: persistentVolumeClaim}}";
    private static final String B = "{name: b, capacity: 1Gi, replicas: 1}";
    private static final String SHRUNK = "{%sstorage: [" + A.formatted(1) + "]}";
    private static final String REMOVED = "{%sstorage: [" + B + "]}";

    @Test
    void aSetThatIsRemovedWaitsForThePodOfWhatIsOnItsClaim() {
        for (PoolSketch sketch : List.of(removed(""), removed("").pod(pod("demo-a-0", false)))) {
            PoolPlan plan = sketch.masters(2, 1, PoolSketch.leader(List.of(away("demo-a-0", 1 << 20, "a1"))))
                    .plan();

            assertThat(plan.delete()).isEmpty();
            assertThat(PoolSketch.emptied(plan)).extracting(StepStatus::of).containsExactly("demo-a-0");
            assertThat(plan.outstanding().waiting())
                    .singleElement()
                    .asString()
                    .contains("stays until demo-a-0 is empty")
                    .contains("its pod does not run now")
                    .contains("spec.drain.onLeftovers")
                    .contains("spec.onDataLoss");
        }
    }

    @Test
    void aNodeThatNoLeaderHasMetMayHoldSomething() {
        PoolReport cold = PoolSketch.leader(List.of(away("demo-a-0", 0, "")));
        assertThat(removed("").masters(2, 1, cold).plan().delete()).isEmpty();
        assertThat(removed("").plan().delete()).as("no leader can be asked").isEmpty();
    }

    @Test
    void oneThatTheLeaderKnowsToBeEmptyGoes() {
        PoolReport empty = PoolSketch.leader(List.of(away("demo-a-0", 0, "a1")));
        assertThat(removed("").masters(2, 1, empty).plan().delete())
                .extracting(it -> it.getMetadata().getName())
                .containsExactly("demo-a");
    }

    @Test
    void theSpecMayAllowToLoseIt() {
        PoolReport report = PoolSketch.leader(List.of(away("demo-a-0", 1 << 20, "a1")));
        assertThat(removed("onDataLoss: Replace, ").masters(2, 1, report).plan().delete())
                .hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"Wait, LEFTOVERS, 0", "Drop, DROPPED, 0", "Drop, , 1"})
    void inTheEndTheSpecDecidesWhatBecomesOfIt(String onLeftovers, StepState then, int deleted) {
        StepState before = then == null ? StepState.DROPPED : StepState.UNDER_WAY;
        PoolPlan plan = removed("drain: {timeout: 1h, onLeftovers: " + onLeftovers + "}, ")
                .status(PoolSketch.statusWith(List.of(PoolSketch.emptying(
                        "demo-a-0", before, PoolSketch.NOON.minusSeconds(3601).toString(), null))))
                .masters(2, 1, PoolSketch.leader(List.of(away("demo-a-0", 1 << 20, "a1"))))
                .ledAllAlong()
                .plan();

        assertThat(plan.delete()).hasSize(deleted);
        if (then != null) {
            assertThat(PoolSketch.emptied(plan)).extracting(StepStatus::state).containsExactly(then);
        }
    }

    @Test
    void aSetThatIsMadeSmallerKeepsTheNumberOfANodeWithoutAPod() {
        PoolPlan plan = new PoolSketch(SHRUNK.formatted(""))
                .child(set("{storage: [" + A.formatted(3) + "]}"))
                .pod(pod("demo-a-0", true))
                .masters(
                        2,
                        1,
                        PoolSketch.leader(List.of(
                                holding("demo-a-0"), away("demo-a-1", 1 << 20, "a1"), away("demo-a-2", 0, "a1"))))
                .plan();

        assertThat(set(plan, "demo-a").getSpec().getReplicas())
                .as("demo-a-2 is known to be empty and goes first")
                .isEqualTo(2);
        assertThat(PoolSketch.emptied(plan)).extracting(StepStatus::of).containsExactly("demo-a-1");
        assertThat(plan.outstanding().waiting())
                .singleElement()
                .asString()
                .startsWith("Storage set a keeps 2 nodes instead of 1 until demo-a-1 is empty. What demo-a-1 may hold");
    }

    @Test
    void whatIsInMemoryIsGoneWithItsPod() {
        PoolPlan plan = new PoolSketch("{storage: [{name: a, capacity: 1Gi, replicas: 1}]}")
                .emptySet("a", 2)
                .pod(pod("demo-a-0", true))
                .masters(2, 1, PoolSketch.leader(List.of(holding("demo-a-0"), away("demo-a-1", 1 << 20, "a1"))))
                .plan();
        assertThat(PoolSketch.emptied(plan)).isEmpty();
        assertThat(set(plan, "demo-a").getSpec().getReplicas()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {name: a, capacity: 1Gi, replicas: 1}
            {name: a, capacity: 2Gi, replicas: 1, volume: {type: persistentVolumeClaim}}
            {name: a, capacity: 1Gi, replicas: 1, volume: {type: persistentVolumeClaim, storageClassName: fast}}
            """)
    void aSetThatComesBackWithAnotherVolumeWaitsUntilTheFirstOneIsGone(String other) {
        String spec = "{storage: [" + other + "]}";
        PoolSketch sketch = new PoolSketch(spec)
                .child(set("{storage: [" + A.formatted(1) + "]}"))
                .pod(pod("demo-a-0", true))
                .masters(2, 1, PoolSketch.leader(List.of(holding("demo-a-0"))));
        PoolPlan plan = sketch.plan();

        assertThat(plan.apply())
                .noneMatch(child -> child.getMetadata().getName().equals("demo-a"));
        assertThat(plan.delete()).isEmpty();
        assertThat(PoolSketch.emptied(plan)).extracting(StepStatus::of).containsExactly("demo-a-0");
        assertThat(plan.outstanding().waiting())
                .containsExactly("Storage set a is no longer in the spec with the volume that it has and stays until"
                        + " demo-a-0 is empty.");

        PoolPlan emptied = sketch.status(PoolSketch.statusWith(List.of(PoolSketch.emptying(
                        "demo-a-0",
                        StepState.EMPTY,
                        PoolSketch.NOON.minusSeconds(60).toString(),
                        null))))
                .says("demo-master-0", PoolSketch.leader(List.of(PoolSketch.drained("demo-a-0"))))
                .plan();
        assertThat(emptied.delete())
                .extracting(it -> it.getMetadata().getName())
                .containsExactly("demo-a");

        assertThat(set(new PoolSketch(spec).plan(), "demo-a").getSpec().getReplicas())
                .as("it is gone")
                .isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"emptyDir, '', hostPath, /kv", "hostPath, /kv, hostPath, /other", "hostPath, /kv, emptyDir, ''"})
    void soDoesOneWithANodeOnEachMachine(String type, String path, String otherType, String otherPath) {
        String before = perNode(type, path);
        String after = perNode(otherType, otherPath);
        ObservedPod pod = PoolSketch.perNodePod("a", "n1", true, "any");
        PoolSketch sketch = new PoolSketch(after)
                .node("n1", Map.of())
                .child(daemonSet(before))
                .pod(pod)
                .masters(2, 1, PoolSketch.leader(List.of(holding("a.n1"))));
        PoolPlan plan = sketch.plan();

        assertThat(plan.apply())
                .noneMatch(child -> child.getMetadata().getName().equals("demo-a"));
        assertThat(plan.delete()).isEmpty();
        assertThat(PoolSketch.replaced(plan)).isEmpty();
        assertThat(PoolSketch.emptied(plan)).extracting(StepStatus::of).containsExactly("a.n1");
        assertThat(plan.outstanding().waiting())
                .containsExactly(
                        "Storage set a is no longer in the spec with the volume that it has and stays until a.n1 is empty.");

        PoolPlan emptied = sketch.status(PoolSketch.statusWith(List.of(empty("a.n1"))))
                .says("demo-master-0", PoolSketch.leader(List.of(PoolSketch.drained("a.n1"))))
                .plan();
        assertThat(emptied.delete())
                .extracting(it -> it.getMetadata().getName())
                .containsExactly("demo-a");
        assertThat(daemonSet(after)).as("when it is gone").isNotNull();
    }

    @ParameterizedTest
    @CsvSource({"emptyDir, ''", "hostPath, /kv"})
    void theSameVolumeOfAMachineIsNoOtherOne(String type, String path) {
        String spec = perNode(type, path);

        PoolPlan plan = new PoolSketch(spec)
                .node("n1", Map.of())
                .child(daemonSet(spec))
                .pod(PoolSketch.perNodePod("a", "n1", true, "any"))
                .masters(2, 1, PoolSketch.leader(List.of(holding("a.n1"))))
                .plan();

        assertThat(plan.outstanding().waiting()).isEmpty();
        assertThat(PoolSketch.emptied(plan)).isEmpty();
        assertThat(plan.apply()).anyMatch(child -> child instanceof DaemonSet);
    }

    private static String perNode(String type, String path) {
        String where = path.isEmpty() ? "" : ", path: " + path;
        return "{storage: [{name: a, capacity: 1Gi, perNode: {}, volume: {type: %s%s}}]}".formatted(type, where);
    }

    private static DaemonSet daemonSet(String spec) {
        return new PoolSketch(spec)
                .node("n1", Map.of()).plan().apply().stream()
                        .filter(DaemonSet.class::isInstance)
                        .map(DaemonSet.class::cast)
                        .findFirst()
                        .orElseThrow();
    }

    private static StepStatus empty(String node) {
        String since = PoolSketch.NOON.minusSeconds(60).toString();
        return PoolSketch.emptying(node, StepState.EMPTY, since, null);
    }

    @Test
    void theSameVolumeIsNoOtherOne() {
        String spec = "{storage: [" + A.formatted(1) + "]}";
        StatefulSet stored = set(spec);
        // As the API server gives it back.
        stored.getSpec()
                .getVolumeClaimTemplates()
                .forEach(claim -> claim.getSpec().setVolumeMode("Filesystem"));
        PoolPlan plan = new PoolSketch(spec)
                .child(stored)
                .pod(pod("demo-a-0", true))
                .masters(2, 1, PoolSketch.leader(List.of(holding("demo-a-0"))))
                .plan();
        assertThat(plan.outstanding().waiting()).isEmpty();
        assertThat(set(plan, "demo-a").getSpec().getReplicas()).isEqualTo(1);
    }

    private static PoolSketch removed(String options) {
        return new PoolSketch(REMOVED.formatted(options))
                .child(set("{storage: [" + A.formatted(1) + "]}"))
                .set("b", 1);
    }

    private static ObservedPod pod(String name, boolean started) {
        return PoolSketch.pod(name, PoolLabels.ROLE_STORAGE, "a", started, "any");
    }

    private static PoolReport.Node holding(String id) {
        return node(id, "ready", 1 << 20, "a1");
    }

    private static PoolReport.Node away(String id, long bytes, String incarnation) {
        return node(id, "away", bytes, incarnation);
    }

    private static PoolReport.Node node(String id, String state, long bytes, String incarnation) {
        return Reports.node(id, state)
                .with("usedBytes", bytes)
                .with("objects", bytes == 0 ? 0L : 5L)
                .with("incarnation", incarnation)
                .build();
    }

    private static StatefulSet set(String spec) {
        return set(new PoolSketch(spec).plan(), "demo-a");
    }

    private static StatefulSet set(PoolPlan plan, String name) {
        for (HasMetadata child : plan.apply()) {
            if (child instanceof StatefulSet set && set.getMetadata().getName().equals(name)) {
                return set;
            }
        }
        throw new AssertionError("no set " + name + " is made");
    }
}
