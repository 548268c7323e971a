// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.Altered;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.child.part.SegmentMemory;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a cordoned Kubernetes node means to a pool, by what kind of storage node is there. */
class CordonsTest {
    private static final String TWO_NODES = "{storage: [{name: a, capacity: 1Gi, replicas: 2}]}";
    private static final String PER_NODE = "{storage: [{name: a, capacity: 1Gi, perNode: {}}]}";
    private static final String ON_DIRECTORIES =
            "{storage: [{name: a, capacity: 1Gi, perNode: {}, volume: {type: hostPath, path: /dev/shm/kvpool}}]}";
    private static final PoolReport BOTH = PoolSketch.leader(List.of(
            PoolSketch.node("demo-a-0", "ready", "", 1L << 30, 7),
            PoolSketch.node("demo-a-1", "ready", "", 1L << 30, 7)));

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{spec: {unschedulable: true}} | true",
                "{spec: {taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}} | true",
                "{spec: {unschedulable: false, taints: [{key: other, effect: NoSchedule}]}} | false",
                "{spec: {}} | false",
                "{status: {}} | false",
            })
    void aNodeIsCordonedByItsFieldOrItsTaint(String rest, boolean cordoned) {
        var node = new KubernetesSerialization()
                .unmarshal("--- {apiVersion: v1, kind: Node, metadata: {name: n}, " + rest.substring(1), Node.class);

        assertThat(ObservedNode.of(node).cordoned()).isEqualTo(cordoned);
    }

    /** What Karpenter (since 1.0, and before) and the Cluster Autoscaler put on a node before they remove it. */
    @ParameterizedTest
    @CsvSource({
        "karpenter.sh/disrupted, NoSchedule, true",
        "karpenter.sh/disruption, NoSchedule, true",
        "ToBeDeletedByClusterAutoscaler, NoSchedule, true",
        "DeletionCandidateOfClusterAutoscaler, PreferNoSchedule, false",
        "ToBeDeletedByClusterAutoscaler, PreferNoSchedule, false",
        "dedicated, NoSchedule, false"
    })
    void aNodeThatAnAutoscalerIsAboutToRemoveIsEmptied(String key, String effect, boolean emptied) {
        Taint taint = new TaintBuilder().withKey(key).withEffect(effect).build();

        PoolPlan plan =
                onTwo(TWO_NODES).masters(2, 1, BOTH).node("n1", Map.of(), taint).plan();

        assertThat(PoolSketch.emptied(plan))
                .extracting(StepStatus::of, StepStatus::state)
                .isEqualTo(emptied ? List.of(tuple("demo-a-1", StepState.UNDER_WAY)) : List.of());
        assertThat(plan.transitions().words().draining().message())
                .matches(emptied ? ".* has taint " + key + "\\." : "No .*");
    }

    @Test
    void timeBeforeTheLeaderLedDoesNotCount() {
        String since = PoolSketch.NOON.minus(Duration.ofHours(2)).toString();
        StepStatus begun = PoolSketch.emptying("demo-a-1", StepState.UNDER_WAY, since, "n1");

        PoolPlan plan = onTwo(TWO_NODES)
                .masters(2, 1, BOTH)
                .cordoned("n1")
                .status(PoolSketch.statusWith(List.of(begun)))
                .plan();

        assertThat(PoolSketch.emptied(plan)).extracting(StepStatus::state).containsExactly(StepState.UNDER_WAY);
    }

    @Test
    void aStorageNodeInMemoryIsEmptiedAndKeepsItsPlaceInThePool() {
        PoolPlan plan = onTwo(TWO_NODES).masters(2, 1, BOTH).cordoned("n1").plan();

        assertThat(PoolSketch.emptied(plan))
                .extracting(StepStatus::of, StepStatus::state, StepStatus::machine)
                .containsExactly(tuple("demo-a-1", StepState.UNDER_WAY, "n1"));
        assertThat(plan.transitions().words().draining().reason()).isEqualTo(Reason.EMPTYING);
        assertThat(plan.transitions().words().draining().message())
                .isEqualTo("demo-a-1 is being emptied, because its node n1 is cordoned.");
        assertThat(plan.storageNodes()).isEqualTo(2);
        assertThat(plan.outstanding().waiting()).as("the spec is carried out").isEmpty();
        assertThat(plan.transitions().evictable()).isEmpty();
    }

    @Test
    void whenItIsEmptyItsPodAloneIsLabelled() {
        PoolReport emptied = PoolSketch.leader(
                List.of(PoolSketch.node("demo-a-0", "ready", "", 1L << 30, 7), PoolSketch.drained("demo-a-1")));

        PoolPlan plan = onTwo(TWO_NODES)
                .masters(2, 1, emptied)
                .cordoned("n1")
                .status(PoolSketch.statusWith(List.of(onCordoned("demo-a-1", StepState.EMPTY))))
                .plan();

        assertThat(plan.transitions().evictable()).containsExactly("demo-a-1");
        assertThat(plan.transitions().released()).isEmpty();
        assertThat(plan.storageNodes()).isEqualTo(2);
    }

    @Test
    void aPausedPoolDecidesNothingAndSaysSo() {
        PoolSketch paused = onTwo("{paused: true, " + TWO_NODES.substring(1))
                .masters(2, 1, BOTH)
                .cordoned("n1");

        PoolPlan plan = paused.plan();

        assertThat(PoolSketch.emptied(plan)).isEmpty();
        assertThat(plan.transitions().words().draining().reason()).isEqualTo(Reason.DRAIN_WAITS);
        assertThat(plan.transitions().words().draining().message())
                .isEqualTo("demo-a-1 is to be emptied and waits: nothing is changed.");
        assertThat(plan.transitions().evictable()).isEmpty();
    }

    @Test
    void aSpecThatCannotBeCarriedOutKeepsNoStorageNodeFromBeingEmptied() {
        PoolPlan plan = onTwo("{transferEngine: missing, " + TWO_NODES.substring(1))
                .masters(2, 1, BOTH)
                .cordoned("n1")
                .plan();

        assertThat(plan.apply()).isEmpty();
        assertThat(PoolSketch.emptied(plan))
                .extracting(StepStatus::of, StepStatus::state)
                .containsExactly(tuple("demo-a-1", StepState.UNDER_WAY));
    }

    @Test
    void whatLiesOnClaimsIsNotMoved() {
        PoolPlan plan = onClaims()
                .cordoned("n1")
                .status(PoolSketch.statusWith(List.of(onCordoned("demo-a-1", StepState.KEPT))))
                .plan();

        assertThat(plan.transitions().actions()).isEmpty();
        assertThat(plan.transitions().evictable()).containsExactly("demo-a-1");
        assertThat(plan.transitions().words().draining().message())
                .isEqualTo("demo-a-1 may be evicted from n1, as what it holds is on a volume that stays.");
    }

    /** Its disks may go with the machine. The taint counts also where the node is cordoned as well. */
    @Test
    void itIsMovedFromAMachineThatAnAutoscalerIsAboutToRemove() {
        Taint taint = new TaintBuilder()
                .withKey("ToBeDeletedByClusterAutoscaler")
                .withEffect("NoSchedule")
                .build();

        PoolPlan plan = onClaims().cordoned("n1", taint).plan();

        assertThat(PoolSketch.emptied(plan))
                .extracting(StepStatus::of, StepStatus::state)
                .containsExactly(tuple("demo-a-1", StepState.UNDER_WAY));
    }

    /** Its volume is on a machine that is cordoned, so that its pod cannot be scheduled. What it holds is away nevertheless. */
    @Test
    void oneWhoseVolumeWaitsForItsMachineIsAway() {
        PoolReport one = PoolSketch.leader(List.of(
                PoolSketch.node("demo-a-0", "away", "", 1L << 30, 7),
                PoolSketch.node("demo-a-1", "ready", "", 1L << 30, 7)));

        PoolPlan plan = waiting().masters(2, 1, one).cordoned("n1").plan();

        assertThat(plan.transitions().evictable()).isEmpty();
        assertThat(plan.transitions().words().draining().message())
                .isEqualTo(
                        "demo-a-1 is on n1, which is cordoned, and waits: 1 other storage nodes are away or may be evicted, and spec.upgrade.maxUnavailable is 1. After spec.drain.nodeTimeout a pod may be evicted all the same.");
    }

    /** Its machine went for good when it was empty: nothing waits for a person who says so. */
    @Test
    void oneThatWasEmptiedBeforeIsNotMissed() {
        PoolReport one = PoolSketch.leader(List.of(
                PoolSketch.node("demo-a-0", "away", "", 0, 0), PoolSketch.node("demo-a-1", "ready", "", 1L << 30, 7)));

        PoolPlan plan = waiting().masters(2, 1, one).cordoned("n1").plan();

        assertThat(PoolSketch.emptied(plan))
                .extracting(StepStatus::of, StepStatus::state)
                .containsExactly(tuple("demo-a-1", StepState.KEPT));
    }

    /** A pool on claims, of which one waits for a machine. */
    private static PoolSketch waiting() {
        return onClaims()
                .pod(Altered.of(PoolSketch.pod("demo-a-0", PoolLabels.ROLE_STORAGE, "a", false, "new"))
                        .with("node", "")
                        .with("trouble", "cannot be scheduled: no node is left")
                        .build());
    }

    @Test
    void aPerNodeSetInMemoryIsEmptiedAndOneWithDirectoriesIsLeftAlone() {
        PoolReport report = PoolSketch.leader(
                List.of(PoolSketch.node("a.n0", "ready", "", 1, 1), PoolSketch.node("a.n1", "ready", "", 1, 1)));
        PoolSketch memory = onMachines(PER_NODE, report);
        assertThat(PoolSketch.emptied(memory.plan()))
                .extracting(StepStatus::of, StepStatus::machine)
                .containsExactly(tuple("a.n1", "n1"));

        PoolSketch directories = onMachines(ON_DIRECTORIES, report);
        directories.observation().storageWorkloads(DaemonSet.class).forEach(CordonsTest::onDirectories);
        assertThat(PoolSketch.emptied(directories.plan())).isEmpty();
    }

    private static PoolSketch onMachines(String spec, PoolReport report) {
        return new PoolSketch(spec)
                .node("n0", Map.of())
                .cordoned("n1")
                .daemonSet("a", "n0", "n1")
                .masters(2, 1, report);
    }

    private static PoolSketch onClaims() {
        StatefulSet claims = PoolSketch.statefulSet("a", 2);
        String spec = TWO_NODES.replace("1Gi", "1Gi, volume: {type: persistentVolumeClaim}");
        new PoolSketch(spec)
                .plan().apply().stream()
                        .filter(StatefulSet.class::isInstance)
                        .map(child -> ((StatefulSet) child).getSpec().getVolumeClaimTemplates())
                        .filter(templates -> !templates.isEmpty())
                        .forEach(claims.getSpec()::setVolumeClaimTemplates);
        return onTwo(spec, claims).masters(2, 1, BOTH);
    }

    private static PoolSketch onTwo(String spec) {
        return onTwo(spec, PoolSketch.statefulSet("a", 2));
    }

    private static PoolSketch onTwo(String spec, StatefulSet set) {
        return new PoolSketch(spec)
                .child(set)
                .pod(PoolSketch.podOn("n0", "demo-a-0", "a"))
                .pod(PoolSketch.podOn("n1", "demo-a-1", "a"))
                .node("n0", Map.of());
    }

    private static void onDirectories(DaemonSet set) {
        set.getSpec()
                .getTemplate()
                .setSpec(new PodSpecBuilder()
                        .withVolumes(new VolumeBuilder()
                                .withName(SegmentMemory.VOLUME)
                                .withNewHostPath("/dev/shm/kvpool/id.a", "DirectoryOrCreate")
                                .build())
                        .build());
    }

    private static StepStatus onCordoned(String node, StepState phase) {
        return PoolSketch.emptying(node, phase, PoolSketch.NOON.toString(), "n1");
    }
}
