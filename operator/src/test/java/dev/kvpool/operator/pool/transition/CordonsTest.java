// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kvpool.api.v1alpha1.DrainPhase;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.child.part.SegmentMemory;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.PoolObservation;
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

/** What a cordoned node of the cluster means to a pool, by what kind of storage node is there. */
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

        assertThat(plan.drains().next())
                .extracting(DrainStatus::node, DrainStatus::phase)
                .isEqualTo(emptied ? List.of(tuple("demo-a-1", DrainPhase.EMPTYING)) : List.of());
        assertThat(plan.drains().finding().message()).matches(emptied ? ".* has taint " + key + "\\." : "No .*");
    }

    @Test
    void timeBeforeTheLeaderLedDoesNotCount() {
        String since = PoolSketch.NOON.minus(Duration.ofHours(2)).toString();
        DrainStatus begun = new DrainStatus("demo-a-1", DrainPhase.EMPTYING, since, null, null, null, "n1");

        PoolPlan plan = onTwo(TWO_NODES)
                .masters(2, 1, BOTH)
                .cordoned("n1")
                .status(PoolSketch.statusWith(List.of(begun)))
                .plan();

        assertThat(plan.drains().next()).extracting(DrainStatus::phase).containsExactly(DrainPhase.EMPTYING);
    }

    @Test
    void aStorageNodeInMemoryIsEmptiedAndKeepsItsPlaceInThePool() {
        PoolPlan plan = onTwo(TWO_NODES).masters(2, 1, BOTH).cordoned("n1").plan();

        assertThat(plan.drains().next())
                .extracting(DrainStatus::node, DrainStatus::phase, DrainStatus::cordonedNode)
                .containsExactly(tuple("demo-a-1", DrainPhase.EMPTYING, "n1"));
        assertThat(plan.drains().finding().reason()).isEqualTo(Reason.EMPTYING);
        assertThat(plan.drains().finding().message())
                .isEqualTo("demo-a-1 is being emptied, because its node n1 is cordoned.");
        assertThat(plan.storageNodes()).isEqualTo(2);
        assertThat(plan.waiting()).as("the spec is carried out").isEmpty();
        assertThat(plan.evictable()).isEmpty();
    }

    @Test
    void whenItIsEmptyItsPodAloneIsLabelled() {
        PoolReport emptied = PoolSketch.leader(
                List.of(PoolSketch.node("demo-a-0", "ready", "", 1L << 30, 7), PoolSketch.drained("demo-a-1")));

        PoolPlan plan = onTwo(TWO_NODES)
                .masters(2, 1, emptied)
                .cordoned("n1")
                .status(PoolSketch.statusWith(List.of(onCordoned("demo-a-1", DrainPhase.EMPTY))))
                .plan();

        assertThat(plan.evictable()).containsExactly("demo-a-1");
        assertThat(plan.drains().released()).isEmpty();
        assertThat(plan.storageNodes()).isEqualTo(2);
    }

    @Test
    void aPausedPoolDecidesNothingAndSaysSo() {
        PoolSketch paused = onTwo("{paused: true, " + TWO_NODES.substring(1))
                .masters(2, 1, BOTH)
                .cordoned("n1");

        PoolPlan plan = paused.plan();

        assertThat(plan.drains().next()).isEmpty();
        assertThat(plan.drains().finding().reason()).isEqualTo(Reason.DRAIN_WAITS);
        assertThat(plan.drains().finding().message())
                .isEqualTo("demo-a-1 is to be emptied and waits: nothing is changed.");
        assertThat(plan.evictable()).isEmpty();
    }

    @Test
    void aSpecThatCannotBeCarriedOutKeepsNobodyFromEmptyingIt() {
        PoolPlan plan = onTwo("{transferEngine: missing, " + TWO_NODES.substring(1))
                .masters(2, 1, BOTH)
                .cordoned("n1")
                .plan();

        assertThat(plan.apply()).isEmpty();
        assertThat(plan.drains().next())
                .extracting(DrainStatus::node, DrainStatus::phase)
                .containsExactly(tuple("demo-a-1", DrainPhase.EMPTYING));
    }

    @Test
    void whatLiesOnClaimsIsNotMoved() {
        StatefulSet claims = PoolSketch.statefulSet("a", 2);
        String spec = TWO_NODES.replace("1Gi", "1Gi, volume: {type: persistentVolumeClaim}");
        new PoolSketch(spec)
                .plan().apply().stream()
                        .filter(StatefulSet.class::isInstance)
                        .map(child -> ((StatefulSet) child).getSpec().getVolumeClaimTemplates())
                        .filter(templates -> !templates.isEmpty())
                        .forEach(claims.getSpec()::setVolumeClaimTemplates);

        PoolPlan plan = onTwo(spec, claims)
                .masters(2, 1, BOTH)
                .cordoned("n1")
                .status(PoolSketch.statusWith(List.of(onCordoned("demo-a-1", DrainPhase.KEPT))))
                .plan();

        assertThat(plan.drains().actions()).isEmpty();
        assertThat(plan.evictable()).containsExactly("demo-a-1");
        assertThat(plan.drains().finding().message())
                .isEqualTo("demo-a-1 may be evicted from n1, as what it holds is on a volume that stays.");
    }

    @Test
    void aPerNodeSetInMemoryIsEmptiedAndOneWithDirectoriesIsLeftAlone() {
        PoolReport report = PoolSketch.leader(
                List.of(PoolSketch.node("a.n0", "ready", "", 1, 1), PoolSketch.node("a.n1", "ready", "", 1, 1)));
        PoolSketch memory = onMachines(PER_NODE, report);
        assertThat(memory.plan().drains().next())
                .extracting(DrainStatus::node, DrainStatus::cordonedNode)
                .containsExactly(tuple("a.n1", "n1"));

        PoolSketch directories = onMachines(ON_DIRECTORIES, report);
        directories.observation().storageWorkloads(DaemonSet.class).forEach(CordonsTest::onDirectories);
        assertThat(directories.plan().drains().next()).isEmpty();
    }

    private static PoolSketch onMachines(String spec, PoolReport report) {
        return new PoolSketch(spec)
                .node("n0", Map.of())
                .cordoned("n1")
                .daemonSet("a", "n0", "n1")
                .masters(2, 1, report);
    }

    @Test
    void anUpgradeLetsItPass() {
        PoolSketch sketch = onTwo(TWO_NODES).masters(2, 1, BOTH).cordoned("n1");
        PoolObservation seen = sketch.observation();
        var departures = Cordons.join(List.of(), seen, List.of());

        assertThat(Cordons.emptiedFirst(departures, List.of())).containsExactly("demo-a-1");
        assertThat(Cordons.emptiedFirst(departures, List.of(onCordoned("demo-a-1", DrainPhase.WAITING))))
                .containsExactly("demo-a-1");
        assertThat(Cordons.emptiedFirst(departures, List.of(onCordoned("demo-a-1", DrainPhase.DROPPED))))
                .isEmpty();
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

    private static DrainStatus onCordoned(String node, DrainPhase phase) {
        return new DrainStatus(node, phase, PoolSketch.NOON.toString(), null, null, null, "n1");
    }
}
