// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.master.PoolReport;
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

/** What a volume that outlives its pods changes in what is done with them. */
class VolumesTest {
    private static final String CLAIMS =
            "{%sstorage: [{name: a, capacity: 1Gi, replicas: %d, volume: {type: persistentVolumeClaim}}]}";
    private static final String DIRECTORIES =
            "{deletionPolicy: Retain, storage: [{name: a, capacity: 1Gi, perNode: {nodeSelector: {disk: fast}},"
                    + " volume: {type: hostPath, path: /dev/shm/kvpool}}]}";

    @Test
    void podsWithEarlierSettingsAreReplacedOneAtATimeWithoutAsking() {
        PoolPlan plan = running(CLAIMS.formatted("", 2), "earlier").plan();

        assertThat(PoolSketch.replaced(plan)).containsExactly("demo-a-1");
        assertThat(plan.transitions().words().heldBack()).isEmpty();
    }

    @Test
    void thoseInMemoryAreHeldBackAsEver() {
        PoolPlan plan = running("{storage: [{name: a, capacity: 1Gi, replicas: 2}]}", "earlier")
                .plan();

        assertThat(PoolSketch.replaced(plan)).isEmpty();
        assertThat(plan.transitions().words().heldBack()).isNotEmpty();
    }

    @Test
    void noneIsReplacedWhileAnotherIsNotReady() {
        ObservedPod starting = PoolSketch.pod("demo-a-1", PoolLabels.ROLE_STORAGE, "a", false, "earlier");

        PoolPlan plan =
                running(CLAIMS.formatted("", 2), "earlier").pod(starting).plan();

        assertThat(PoolSketch.replaced(plan)).containsExactly("demo-a-1");
    }

    @ParameterizedTest
    @CsvSource({"'', Delete", "'deletionPolicy: Retain, ', Retain"})
    void claimsGoWithThePoolUnlessItKeepsItsBytes(String policy, String whenDeleted) {
        var retention = set(new PoolSketch(CLAIMS.formatted(policy, 1)).plan())
                .getSpec()
                .getPersistentVolumeClaimRetentionPolicy();

        assertThat(retention.getWhenDeleted()).isEqualTo(whenDeleted);
        assertThat(retention.getWhenScaled()).as("it was emptied before").isEqualTo("Delete");
    }

    @Test
    void aNodeThatIsToGoIsEmptiedAlsoWhenItsPodIsJustBeingMadeAnew() {
        String shrunk = CLAIMS.formatted("", 1);
        assertThat(PoolSketch.emptied(new PoolSketch(shrunk)
                        .child(set(new PoolSketch(CLAIMS.formatted("", 2)).plan()))
                        .pod(pod("demo-a-0", true))
                        .pod(pod("demo-a-1", false))
                        .masters(2, 1, PoolSketch.leader(List.of(holding("demo-a-0"), holding("demo-a-1"))))
                        .plan()))
                .extracting(StepStatus::of)
                .containsExactly("demo-a-1");
    }

    @Test
    void podsOfDirectoriesAreReplacedOneAtATimeButNotWhereNoneWouldComeBack() {
        PoolSketch sketch = new PoolSketch(DIRECTORIES)
                .child(daemonSet(new PoolSketch(DIRECTORIES).plan()))
                .node("n1", Map.of("disk", "slow"))
                .node("n2", Map.of("disk", "fast"))
                .node("n3", Map.of("disk", "fast"))
                .masters(2, 1, PoolSketch.leader(List.of(holding("a.n1"), holding("a.n2"), holding("a.n3"))));
        for (String node : List.of("n1", "n2", "n3")) {
            sketch.pod(PoolSketch.perNodePod("a", node, true, "earlier"));
        }

        PoolPlan plan = sketch.plan();

        assertThat(plan.transitions().words().heldBack()).isEmpty();
        assertThat(PoolSketch.replaced(plan)).containsExactly("a.n3");
    }

    private static PoolSketch running(String spec, String settings) {
        return new PoolSketch(spec)
                .child(set(new PoolSketch(spec).plan()))
                .pod(PoolSketch.pod("demo-a-0", PoolLabels.ROLE_STORAGE, "a", true, settings))
                .pod(PoolSketch.pod("demo-a-1", PoolLabels.ROLE_STORAGE, "a", true, settings))
                .masters(2, 1, PoolSketch.leader(List.of(holding("demo-a-0"), holding("demo-a-1"))));
    }

    private static ObservedPod pod(String name, boolean started) {
        return PoolSketch.pod(name, PoolLabels.ROLE_STORAGE, "a", started, "any");
    }

    private static PoolReport.Node holding(String id) {
        return PoolSketch.node(id, "ready", "", 1 << 20, 5);
    }

    private static HasMetadata daemonSet(PoolPlan plan) {
        return plan.apply().stream()
                .filter(DaemonSet.class::isInstance)
                .findFirst()
                .orElseThrow();
    }

    private static StatefulSet set(PoolPlan plan) {
        for (HasMetadata child : plan.apply()) {
            if (child instanceof StatefulSet set && set.getMetadata().getName().equals("demo-a")) {
                return set;
            }
        }
        throw new AssertionError("no set a is made");
    }
}
