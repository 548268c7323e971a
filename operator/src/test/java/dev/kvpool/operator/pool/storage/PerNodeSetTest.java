// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.child.PoolConfigMap;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.report.PoolFindings;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** One storage node on every matching Kubernetes node, and none lost because a node or the spec changed. */
class PerNodeSetTest {
    private static final String FAST = "{storage: [{name: a, capacity: 1Gi, perNode: {nodeSelector: {disk: fast}}}]}";
    private static final String FAST_REPLACE =
            "{onDataLoss: Replace, storage: [{name: a, capacity: 1Gi, perNode: {nodeSelector: {disk: fast}}}]}";
    private static final Map<String, String> IS_FAST = Map.of("disk", "fast");
    private static final PoolReport REPORT = PoolSketch.leader(List.of(
            PoolSketch.node("a.n1", "ready", "", 1L << 30, 7), PoolSketch.node("a.n2", "ready", "", 2L << 30, 50)));

    @Test
    void everyMatchingNodeIsExpected() {
        PoolPlan plan = new PoolSketch(FAST)
                .node("n2", IS_FAST)
                .node("n1", IS_FAST)
                .node("slow", Map.of())
                .plan();

        assertThat(expectedNodes(plan)).isEqualTo("a.n1\na.n2\n");
        assertThat(plan.storageNodes()).isEqualTo(2);
        assertThat(named(plan)).isEmpty();
    }

    @Test
    void aNewNodeIsExpectedAtOnce() {
        PoolPlan plan = new PoolSketch(FAST)
                .node("n1", IS_FAST)
                .node("n2", IS_FAST)
                .daemonSet("a", "n1")
                .plan();

        assertThat(expectedNodes(plan)).isEqualTo("a.n1\na.n2\n");
        assertThat(named(plan)).containsExactly("n1");
    }

    @Test
    void theZoneOfANodeIsKnownBeforeItsPodRuns() {
        PoolPlan plan = new PoolSketch(FAST)
                .node("n1", Map.of("disk", "fast", "topology.kubernetes.io/zone", "eu-1"))
                .node("n2", Map.of("disk", "fast", "topology.kubernetes.io/zone", "eu-2"))
                .node("n3", IS_FAST)
                .daemonSet("a", "n1")
                .plan();

        assertThat(directory(plan)).isEqualTo("a.n1 eu-1\na.n2 eu-2\na.n3 n3\n");
    }

    @Test
    void aNodeWithATaintThatIsNotToleratedGetsNone() {
        PoolPlan plan = new PoolSketch(FAST)
                .node("n1", IS_FAST, taint("gpu", "NoSchedule"))
                .node("n2", IS_FAST, taint("gpu", "PreferNoSchedule"))
                .node("n3", IS_FAST, taint("node.kubernetes.io/unreachable", "NoExecute"))
                .plan();

        assertThat(expectedNodes(plan)).isEqualTo("a.n2\na.n3\n");
    }

    @Test
    void aTaintThatOnlyKeepsNewPodsAwayEndsNothing() {
        PoolPlan plan = new PoolSketch(FAST)
                .node("n1", IS_FAST, taint("gpu", "NoSchedule"))
                .daemonSet("a", "n1")
                .plan();

        assertThat(expectedNodes(plan)).isEqualTo("a.n1\n");
        assertThat(plan.transitions().words().heldBack()).isEmpty();
    }

    @Test
    void aNodeThatLostItsLabelKeepsItsStorageUntilThatIsEmpty() {
        PoolPlan plan = new PoolSketch(FAST)
                .node("n1", IS_FAST)
                .node("n2", Map.of())
                .daemonSet("a", "n1", "n2")
                .masters(2, 1, REPORT)
                .plan();

        assertThat(expectedNodes(plan)).isEqualTo("a.n1\na.n2\n");
        assertThat(named(plan)).containsExactly("n1", "n2");
        assertThat(plan.outstanding().waiting())
                .containsExactly(
                        "Storage set a keeps its storage on n2, which it no longer selects, until that is empty.");
        assertThat(PoolSketch.emptied(plan)).extracting(StepStatus::of).containsExactly("a.n2");
        assertThat(plan.transitions().words().heldBack()).isEmpty();
    }

    @Test
    void aStorageNodeThatIsEmptyLeavesTheNodeThatIsNotSelected() {
        PoolSketch sketch =
                new PoolSketch(FAST).node("n1", IS_FAST).node("n2", Map.of()).daemonSet("a", "n1", "n2");
        StoragePlan plan = StoragePlan.of(sketch.observation(), Set.of("a.n2"));

        assertThat(plan.expectedNodes()).containsExactly("a.n1");
        assertThat(plan.placement(sketch.observation().spec().storage().getFirst())
                        .orElseThrow()
                        .kept())
                .containsExactly("n1");
    }

    @Test
    void aNodeThatLostItsLabelLosesItsStorageWhereTheSpecAllowsIt() {
        PoolPlan plan = new PoolSketch(FAST_REPLACE)
                .node("n1", IS_FAST)
                .node("n2", Map.of())
                .daemonSet("a", "n1", "n2")
                .plan();

        assertThat(expectedNodes(plan)).isEqualTo("a.n1\n");
        assertThat(named(plan)).isEmpty();
        assertThat(plan.transitions().words().heldBack()).isEmpty();
    }

    @Test
    void aNodeThatLeftTheClusterIsExpectedUntilItsPodIsGone() {
        PoolSketch before = new PoolSketch(FAST).node("n1", IS_FAST).daemonSet("a", "n1", "n2");
        PoolSketch after = new PoolSketch(FAST).node("n1", IS_FAST).daemonSet("a", "n1");

        assertThat(expectedNodes(before.plan())).isEqualTo("a.n1\na.n2\n");
        assertThat(named(before.plan())).containsExactly("n1");
        assertThat(expectedNodes(after.plan())).isEqualTo("a.n1\n");
    }

    @Test
    void aPodThatNeverRanHoldsNoNode() {
        PoolPlan plan = new PoolSketch(FAST)
                .node("n1", Map.of())
                .daemonSet("a")
                .pod(PoolSketch.perNodePod("a", "n1", false, "new"))
                .plan();

        assertThat(expectedNodes(plan)).isEqualTo("\n");
        assertThat(plan.transitions().words().heldBack()).isEmpty();
    }

    @Test
    void aNodeWhoseNameIsTooLongForAnIdIsLeftOutAndNamed() {
        String longName = "n".repeat(252);
        PoolPlan plan =
                new PoolSketch(FAST).node(longName, IS_FAST).node("n1", IS_FAST).plan();

        assertThat(expectedNodes(plan)).isEqualTo("a.n1\n");
        assertThat(plan.outstanding().leftOut())
                .singleElement()
                .asString()
                .startsWith("Storage set a has no storage node on Kubernetes node nnnn")
                .endsWith("would be longer than 253 bytes. Rename the set or the node.");
        assertThat(terms(plan).getFirst().getMatchFields())
                .singleElement()
                .satisfies(field -> assertThat(field.getOperator()).isEqualTo("NotIn"));
    }

    @Test
    void withoutAnyMatchingNodeTheStatusSaysSo() {
        PoolSketch sketch = new PoolSketch(FAST).node("slow", Map.of()).masters(2, 1, PoolSketch.leader(List.of()));

        List<Finding> findings = new PoolFindings(sketch.observation(), sketch.plan(), PoolSketch.SETTINGS)
                .all(List.of(), new Outcome(List.of(), List.of()));

        assertThat(findings).extracting(Finding::reason).contains(Reason.NO_NODE_SELECTED, Reason.STARTING);
    }

    @Test
    void podsWithEarlierSettingsAreLeftAndNamed() {
        PoolPlan plan = new PoolSketch(FAST)
                .node("n1", IS_FAST)
                .daemonSet("a")
                .pod(PoolSketch.perNodePod("a", "n1", true, "old"))
                .plan();

        assertThat(PoolSketch.replaced(plan)).isEmpty();
        assertThat(plan.transitions().words().heldBack()).startsWith("demo-a-n1 still runs with earlier settings");
    }

    @Test
    void podsWithEarlierSettingsThatNeverRanAreMadeAnew() {
        PoolPlan plan = new PoolSketch(FAST)
                .node("n1", IS_FAST)
                .daemonSet("a")
                .pod(PoolSketch.perNodePod("a", "n1", false, "old"))
                .plan();

        assertThat(PoolSketch.replaced(plan)).containsExactly("demo-a-n1");
    }

    @Test
    void whereBytesMayBeLostPodsAreReplacedOneAtATime() {
        PoolSketch sketch = new PoolSketch(FAST_REPLACE)
                .node("n1", IS_FAST)
                .node("n2", IS_FAST)
                .daemonSet("a")
                .pod(PoolSketch.perNodePod("a", "n1", true, "old"))
                .pod(PoolSketch.perNodePod("a", "n2", true, "old"))
                .masters(
                        2,
                        1,
                        PoolSketch.leader(List.of(
                                PoolSketch.node("a.n1", "ready", "", 0, 0),
                                PoolSketch.node("a.n2", "ready", "", 0, 0))));
        assertThat(PoolSketch.replaced(sketch.plan())).containsExactly("a.n2");

        // The first one is on its way back: the second one waits for it.
        sketch.pod(PoolSketch.notReady(PoolSketch.perNodePod("a", "n2", true, "new")));
        assertThat(PoolSketch.replaced(sketch.plan())).isEmpty();
    }

    @Test
    void aPodThatIsBrokenAnywayIsReplacedFirst() {
        PoolPlan plan = new PoolSketch(FAST_REPLACE)
                .node("n1", IS_FAST)
                .node("n2", IS_FAST)
                .daemonSet("a")
                .pod(PoolSketch.perNodePod("a", "n1", true, "old"))
                .pod(PoolSketch.notReady(PoolSketch.perNodePod("a", "n2", true, "old")))
                .plan();

        assertThat(PoolSketch.replaced(plan)).containsExactly("a.n2");
    }

    @Test
    void aSetThatChangesItsFormKeepsItsOldNodesWhileTheyHoldBytes() {
        PoolPlan plan = new PoolSketch(FAST).node("n1", IS_FAST).set("a", 2).plan();

        assertThat(expectedNodes(plan)).isEqualTo("a.n1\ndemo-a-0\ndemo-a-1\n");
        assertThat(plan.delete()).isEmpty();
        assertThat(plan.outstanding().waiting())
                .containsExactly("Storage set a is no longer in the spec with replicas and stays until demo-a-0,"
                        + " demo-a-1 are empty.");
    }

    @Test
    void aRemovedSetGoesOnceTheSpecAllowsTheLoss() {
        String other = "storage: [{name: b, capacity: 1Gi}]}";

        PoolPlan waiting = new PoolSketch("{" + other).daemonSet("a", "n1").plan();
        assertThat(waiting.delete()).isEmpty();
        assertThat(expectedNodes(waiting)).isEqualTo("demo-b-0\na.n1\n");

        PoolPlan replacing = new PoolSketch("{onDataLoss: Replace, " + other)
                .daemonSet("a", "n1")
                .plan();
        assertThat(replacing.delete()).singleElement().isInstanceOf(DaemonSet.class);
        assertThat(replacing.apply()).filteredOn(StatefulSet.class::isInstance).hasSize(2);
    }

    private static List<String> named(PoolPlan plan) {
        return terms(plan).stream()
                .flatMap(term -> term.getMatchFields().stream())
                .filter(field -> field.getOperator().equals("In"))
                .map(field -> field.getValues().getFirst())
                .toList();
    }

    private static List<NodeSelectorTerm> terms(PoolPlan plan) {
        return plan.apply().stream()
                .filter(DaemonSet.class::isInstance)
                .map(DaemonSet.class::cast)
                .findFirst()
                .orElseThrow()
                .getSpec()
                .getTemplate()
                .getSpec()
                .getAffinity()
                .getNodeAffinity()
                .getRequiredDuringSchedulingIgnoredDuringExecution()
                .getNodeSelectorTerms();
    }

    private static io.fabric8.kubernetes.api.model.Taint taint(String key, String effect) {
        return new TaintBuilder().withKey(key).withEffect(effect).build();
    }

    /** Their ids, a line each. */
    private static String expectedNodes(PoolPlan plan) {
        return directory(plan).replaceAll(" .*", "");
    }

    /** The same with their failure domains, as the masters read it. */
    private static String directory(PoolPlan plan) {
        return plan.apply().stream()
                .filter(ConfigMap.class::isInstance)
                .map(child -> ((ConfigMap) child).getData().get(PoolConfigMap.EXPECTED_NODES))
                .filter(java.util.Objects::nonNull)
                .findFirst()
                .orElseThrow();
    }
}
