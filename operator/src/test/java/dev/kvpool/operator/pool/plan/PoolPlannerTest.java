// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepFacts;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.RollMode;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.child.PoolConfigMap;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.storage.StoragePlan;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is planned from what is seen; above all: never a loss of bytes that is not allowed. */
class PoolPlannerTest {
    private static final String TWO_NODES = "{storage: [{name: a, capacity: 1Gi, replicas: 2}]}";
    private static final PoolReport THREE_NODES = PoolSketch.leader(List.of(
            PoolSketch.node("demo-a-0", "ready", "", 1L << 30, 7),
            PoolSketch.node("demo-a-1", "ready", "", 1L << 30, 7),
            PoolSketch.node("demo-a-2", "ready", "", 1L << 30, 1234)));

    @Test
    void aNewPoolGetsAllItsNodes() {
        PoolPlan plan = new PoolSketch(TWO_NODES).plan();

        assertThat(replicas(plan)).isEqualTo(Map.of("demo-master", 2, "demo-a", 2));
        assertThat(expectedNodes(plan)).isEqualTo("demo-a-0\ndemo-a-1\n");
        assertThat(plan.transitions().words().heldBack()).isEmpty();
    }

    @Test
    void aStorageNodeIsExpectedInTheFailureDomainItsPodIsIn() {
        PoolPlan plan = new PoolSketch("{storage: [{name: a, capacity: 1Gi, replicas: 4}]}")
                .node("worker", Map.of("topology.kubernetes.io/zone", "eu-1"))
                .node("no-zone", Map.of())
                .emptySet("a", 4)
                .pod(PoolSketch.podOn("worker", "demo-a-0", "a"))
                .pod(PoolSketch.podOn("no-zone", "demo-a-1", "a"))
                .pod(PoolSketch.podOn("gone", "demo-a-2", "a"))
                .pod(PoolSketch.podOn("", "demo-a-3", "a"))
                .plan();

        assertThat(expectedNodes(plan)).isEqualTo("demo-a-0 worker\ndemo-a-1 no-zone\ndemo-a-2\ndemo-a-3\n");
        assertThat(plan.storageNodes()).isEqualTo(4);
    }

    @Test
    void aNodeThatIsKeptKeepsItsFailureDomain() {
        PoolPlan plan = new PoolSketch(TWO_NODES)
                .node("worker", Map.of("topology.kubernetes.io/zone", "eu-1"))
                .set("b", 1)
                .plan();

        assertThat(expectedNodes(plan)).isEqualTo("demo-a-0\ndemo-a-1\ndemo-b-0 worker\n");
    }

    @Test
    void growingIsDoneAtOnce() {
        PoolPlan plan = new PoolSketch(TWO_NODES).set("a", 1).plan();

        assertThat(replicas(plan)).containsEntry("demo-a", 2);
        assertThat(plan.storageNodes()).isEqualTo(2);
    }

    @Test
    void shrinkingWaitsUntilTheNodesAreEmpty() {
        PoolPlan plan =
                new PoolSketch(TWO_NODES).set("a", 3).masters(2, 1, THREE_NODES).plan();

        assertThat(replicas(plan)).containsEntry("demo-a", 3);
        assertThat(expectedNodes(plan)).isEqualTo("demo-a-0\ndemo-a-1\ndemo-a-2\n");
        assertThat(plan.storageNodes()).isEqualTo(3);
        assertThat(plan.outstanding().waiting())
                .containsExactly("Storage set a keeps 3 nodes instead of 2 until demo-a-2 is empty.");
        assertThat(PoolSketch.emptied(plan))
                .extracting(StepStatus::of, StepStatus::state)
                .containsExactly(tuple("demo-a-2", StepState.UNDER_WAY));
        assertThat(plan.transitions().words().heldBack()).isEmpty();
    }

    @Test
    void withoutALeaderNothingIsTakenAway() {
        PoolPlan plan = new PoolSketch(TWO_NODES).set("a", 3).plan();

        assertThat(replicas(plan)).containsEntry("demo-a", 3);
        assertThat(plan.transitions().words().draining().reason()).isEqualTo(Reason.DRAIN_WAITS);
    }

    @Test
    void kubernetesTakesTheLastPodFirstSoAnEmptyOneBeforeItWaits() {
        PoolSketch sketch = new PoolSketch("{storage: [{name: a, capacity: 1Gi}]}")
                .set("a", 4)
                .masters(2, 1, THREE_NODES);

        assertThat(replicas(StoragePlan.of(sketch.observation(), Set.of("demo-a-1", "demo-a-3"))))
                .isEqualTo(3);
        assertThat(replicas(StoragePlan.of(sketch.observation(), Set.of("demo-a-1", "demo-a-2", "demo-a-3"))))
                .isEqualTo(1);
        assertThat(replicas(StoragePlan.of(sketch.observation(), Set.of("demo-a-1"))))
                .isEqualTo(4);
    }

    @Test
    void theScaledSetTakesItsNumberFromThePool() {
        PoolPlan plan = new PoolSketch("{replicas: 3, storage: [{name: a, capacity: 1Gi}, {name: b, capacity: 1Gi,"
                        + " replicas: 2}]}")
                .plan();

        assertThat(replicas(plan)).isEqualTo(Map.of("demo-master", 2, "demo-a", 3, "demo-b", 2));
    }

    @Test
    void shrinkingIsDoneWhereTheSpecAllowsTheLoss() {
        PoolPlan plan = new PoolSketch("{onDataLoss: Replace, storage: [{name: a, capacity: 1Gi, replicas: 2}]}")
                .set("a", 3)
                .plan();

        assertThat(replicas(plan)).containsEntry("demo-a", 2);
        assertThat(plan.transitions().words().heldBack()).isEmpty();
    }

    @Test
    void nodesThatNeverRanHaveNothingToLose() {
        PoolPlan plan = new PoolSketch(TWO_NODES)
                .set("a", 2)
                .child(new PoolSketch(TWO_NODES)
                        .emptySet("b", 1)
                        .observation()
                        .children()
                        .getFirst())
                .pod(PoolSketch.pod("demo-b-0", PoolLabels.ROLE_STORAGE, "b", false, "new"))
                .plan();

        assertThat(plan.delete())
                .extracting(child -> child.getMetadata().getName())
                .containsExactly("demo-b");
        assertThat(plan.transitions().words().heldBack()).isEmpty();
    }

    @Test
    void aRemovedSetStaysWhileItsNodesHoldBytes() {
        PoolPlan plan = new PoolSketch(TWO_NODES).set("a", 2).set("b", 1).plan();

        assertThat(plan.delete()).isEmpty();
        assertThat(expectedNodes(plan)).isEqualTo("demo-a-0\ndemo-a-1\ndemo-b-0\n");
        assertThat(plan.outstanding().waiting())
                .containsExactly("Storage set b is no longer in the spec and stays until demo-b-0 is empty.");
        assertThat(StoragePlan.of(
                                new PoolSketch(TWO_NODES)
                                        .set("a", 2)
                                        .set("b", 1)
                                        .observation(),
                                Set.of("demo-b-0"))
                        .delete())
                .extracting(child -> child.getMetadata().getName())
                .containsExactly("demo-b");
    }

    @Test
    void aRemovedSetGoesWhereTheSpecAllowsTheLoss() {
        PoolPlan plan = new PoolSketch("{onDataLoss: Replace, storage: [{name: a, capacity: 1Gi, replicas: 2}]}")
                .set("a", 2)
                .set("b", 1)
                .plan();

        assertThat(plan.delete())
                .extracting(child -> child.getMetadata().getName())
                .containsExactly("demo-b");
        assertThat(expectedNodes(plan)).isEqualTo("demo-a-0\ndemo-a-1\n");
    }

    @Test
    void runningPodsWithEarlierSettingsAreLeftAndNamed() {
        PoolPlan plan = new PoolSketch(TWO_NODES)
                .set("a", 2)
                .pod(PoolSketch.pod("demo-a-1", PoolLabels.ROLE_STORAGE, "a", true, "old"))
                .plan();

        assertThat(PoolSketch.replaced(plan)).isEmpty();
        assertThat(plan.transitions().words().heldBack()).startsWith("demo-a-1 still runs with earlier settings");
    }

    @Test
    void runningPodsWithEarlierSettingsAreEmptiedFirstWhereTheSpecSaysSo() {
        PoolSketch before = withEarlierSettings();

        PoolPlan plan = before.plan();

        assertThat(PoolSketch.replaced(plan)).isEmpty();
        assertThat(plan.transitions().words().heldBack()).isEmpty();
        assertThat(plan.outstanding().waiting())
                .containsExactly(
                        "demo-a-1 still runs with earlier settings and is replaced when empty, one storage node at a time.");
        assertThat(PoolSketch.emptied(plan)).singleElement().satisfies(drain -> {
            assertThat(drain.of()).isEqualTo("demo-a-1");
            assertThat(drain.state()).isEqualTo(StepState.UNDER_WAY);
            assertThat(drain.because()).isEqualTo(StepCause.SETTINGS);
        });
        assertThat(plan.transitions().evictable()).isEmpty();
        assertThat(expectedNodes(plan)).isEqualTo("demo-a-0\ndemo-a-1\n");
    }

    @ParameterizedTest
    @CsvSource({"0, demo-a-1", "3, ''"})
    void onesThatAreEmptyAreMadeAnewAndNoOthers(long objectsLeft, String replaced) {
        StepStatus empty = new StepStatus(
                "demo-a-1", StepKind.EMPTY, StepCause.SETTINGS, StepState.UNDER_WAY, PoolSketch.NOON.toString());
        PoolSketch after = withEarlierSettings()
                .status(PoolSketch.statusWith(List.of(empty)))
                .says(
                        "demo-master-0",
                        PoolSketch.leader(List.of(
                                PoolSketch.node("demo-a-0", "ready", "", 1 << 20, 10),
                                Reports.drained("demo-a-1", objectsLeft))));

        assertThat(PoolSketch.replaced(after.plan())).isEqualTo(replaced.isEmpty() ? List.of() : List.of(replaced));
    }

    private static PoolSketch withEarlierSettings() {
        return new PoolSketch("{onDataLoss: Move, storage: [{name: a, capacity: 1Gi, replicas: 2}]}")
                .set("a", 2)
                .pod(PoolSketch.pod("demo-a-1", PoolLabels.ROLE_STORAGE, "a", true, "old"))
                .masters(
                        2,
                        1,
                        PoolSketch.leader(List.of(
                                PoolSketch.node("demo-a-0", "ready", "", 1 << 20, 10),
                                PoolSketch.node("demo-a-1", "ready", "", 1 << 20, 10))));
    }

    @Test
    void waitingPodsWithEarlierSettingsAreMadeAnew() {
        PoolPlan plan = new PoolSketch(TWO_NODES)
                .set("a", 2)
                .pod(PoolSketch.pod("demo-a-1", PoolLabels.ROLE_STORAGE, "a", false, "old"))
                .plan();

        assertThat(PoolSketch.replaced(plan)).containsExactly("demo-a-1");
        assertThat(plan.transitions().words().heldBack()).isEmpty();
    }

    @Test
    void aPausedPoolKeepsOnlyItsLeaderLabel() {
        PoolPlan plan = new PoolSketch("{paused: true, storage: [{name: a, capacity: 1Gi}]}")
                .set("a", 3)
                .set("b", 1)
                .masters(2, 1, THREE_NODES)
                .plan();

        assertThat(plan.apply()).isEmpty();
        assertThat(plan.delete()).isEmpty();
        assertThat(plan.leader().pod()).contains("demo-master-0");
    }

    @Test
    void aSpecThatCannotBeCarriedOutChangesNothing() {
        PoolPlan plan = new PoolSketch("{transferEngine: gone, storage: [{name: a, capacity: 1Gi}]}")
                .set("b", 1)
                .plan();

        assertThat(plan.apply()).isEmpty();
        assertThat(plan.delete()).isEmpty();
    }

    @Test
    void aHolderThatIsNoMasterOfThisPoolIsNotLabelled() {
        PoolPlan plan = new PoolSketch(TWO_NODES).lease("somebody-else", 4).plan();

        assertThat(plan.leader().pod()).isEmpty();
    }

    @Test
    void policiesGoWhenTheSpecWantsNone() {
        PoolPlan open = new PoolSketch(TWO_NODES).plan();
        PoolSketch closed = new PoolSketch("{networkPolicy: {enabled: false}, storage: [{name: a, capacity: 1Gi}]}");
        open.apply().stream().filter(NetworkPolicy.class::isInstance).forEach(closed::child);

        assertThat(names(open.apply(), NetworkPolicy.class)).containsExactly("demo-master", "demo-storage");
        assertThat(open.delete()).isEmpty();
        assertThat(names(closed.plan().apply(), NetworkPolicy.class)).isEmpty();
        assertThat(names(closed.plan().delete(), NetworkPolicy.class)).containsExactly("demo-master", "demo-storage");
    }

    @Test
    void agentsGoWhenTheEngineAsksForNoneAndStorageNodesStay() {
        String spec = "{transferEngine: demo, storage: [{name: a, capacity: 1Gi, perNode: {}}]}";
        PoolPlan with =
                new PoolSketch(spec).node("n1", Map.of()).engine("{agents: {}}").plan();
        PoolSketch without = new PoolSketch(spec).node("n1", Map.of()).engine("{}");
        with.apply().stream()
                .filter(child -> child instanceof DaemonSet || child instanceof NetworkPolicy)
                .forEach(without::child);

        assertThat(names(with.apply(), DaemonSet.class)).containsExactlyInAnyOrder("demo-agent", "demo-a");
        assertThat(names(with.delete(), DaemonSet.class)).isEmpty();
        assertThat(names(without.plan().delete(), HasMetadata.class))
                .containsExactlyInAnyOrder("demo-agent", "demo-agent");
    }

    @Test
    void whoWaitsForADrainIsToldOfTheUpgradeThatComesFirst() {
        PoolSketch smaller = new PoolSketch("{image: 'new:2', " + TWO_NODES.substring(1))
                .set("a", 3)
                .masters(2, 1, THREE_NODES);
        assertThat(smaller.plan().outstanding().waiting())
                .singleElement()
                .asString()
                .doesNotContain("upgrade");

        String since = PoolSketch.NOON.toString();
        StepStatus step = new StepStatus("demo-a-0", StepKind.RESTART, StepCause.UPGRADE, StepState.UNDER_WAY, since)
                .with(new StepFacts("demo-a-0", StepCause.UPGRADE, "uid-demo-a-0", 0, null, null, null, null, null));
        RollStatus roll = PoolSketch.asking("new:2", PoolSketch.IMAGE).roll().begun(RollMode.WARM, since);

        assertThat(smaller.status(PoolSketch.statusWith(roll, List.of(step)))
                        .plan()
                        .outstanding()
                        .waiting())
                .hasSize(2)
                .last()
                .isEqualTo("No storage node is begun to be emptied before the step of the upgrade to new:2 ends that is"
                        + " under way.");
    }

    @Test
    void theSameObservationGivesTheSamePlan() {
        PoolSketch sketch = new PoolSketch(TWO_NODES).set("a", 3).set("b", 2).masters(2, 1, THREE_NODES);

        assertThat(sketch.plan()).isEqualTo(sketch.plan());
    }

    private static int replicas(StoragePlan plan) {
        return plan.expectedNodes().size();
    }

    private static Map<String, Integer> replicas(PoolPlan plan) {
        return plan.apply().stream()
                .filter(StatefulSet.class::isInstance)
                .map(StatefulSet.class::cast)
                .collect(Collectors.toMap(
                        set -> set.getMetadata().getName(), set -> set.getSpec().getReplicas()));
    }

    private static List<String> names(List<HasMetadata> objects, Class<? extends HasMetadata> kind) {
        return objects.stream()
                .filter(kind::isInstance)
                .map(object -> object.getMetadata().getName())
                .toList();
    }

    private static String expectedNodes(PoolPlan plan) {
        HasMetadata map = plan.apply().stream()
                .filter(child -> child.getMetadata().getName().equals("demo-pool"))
                .findFirst()
                .orElseThrow();
        return ((ConfigMap) map).getData().get(PoolConfigMap.EXPECTED_NODES);
    }
}
