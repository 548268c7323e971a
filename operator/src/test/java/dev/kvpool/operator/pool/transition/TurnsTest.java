// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.plan.PoolPlan;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pods of two sets on claims with earlier settings: which are made anew, and when. */
class TurnsTest {
    private static final List<String> NODES = List.of("demo-a-0", "demo-a-1", "demo-b-0", "demo-b-1");

    private final List<PoolReport.Node> nodes = new ArrayList<>();
    private PoolSketch sketch;

    @BeforeEach
    void twoSets() {
        sketch("");
    }

    @Test
    void oneOfAllSetsAtATime() {
        assertThat(replaced()).containsExactly("demo-a-0");
    }

    @Test
    void asManyAsMayBeAwayInAnUpgrade() {
        sketch("upgrade: {maxUnavailable: 3}, ");
        assertThat(replaced()).containsExactly("demo-a-0", "demo-a-1", "demo-b-0");
    }

    @ParameterizedTest
    @CsvSource({"syncing", "away", "refused"})
    void noneBeforeTheLeaderHasTheLastOneBack(String state) {
        renewed("demo-b-1");
        nodes.add(node("demo-b-1", state, null));
        assertThat(replaced()).isEmpty();
    }

    @Test
    void noneWhileAPodOfAnotherSetIsNotReady() {
        sketch.pod(PoolSketch.notReady(pod("demo-b-1", true, current("b"))));
        assertThat(replaced()).isEmpty();
    }

    @Test
    void noneBesideAMaster() {
        sketch.pod(PoolSketch.pod("demo-master-1", PoolLabels.ROLE_MASTER, "", true, "earlier"));
        assertThat(replaced()).containsExactly("demo-master-1");

        twoSets();
        sketch.pod(PoolSketch.notReady(
                PoolSketch.pod("demo-master-1", PoolLabels.ROLE_MASTER, "", true, currentOfMasters())));
        assertThat(replaced()).as("one is on its way up").isEmpty();
    }

    @Test
    void aMasterForWhichThereIsNoRoomHoldsUpNobody() {
        sketch.pod(PoolSketch.pod("demo-master-1", PoolLabels.ROLE_MASTER, "", false, currentOfMasters()));
        assertThat(replaced()).containsExactly("demo-a-0");
    }

    @Test
    void noneWithoutALeader() {
        sketch.silent("demo-master-0");
        assertThat(replaced()).isEmpty();
    }

    @Test
    void theBrokenOnesComeFirstAndOneAfterTheOther() {
        for (String id : NODES) {
            sketch.pod(PoolSketch.notReady(pod(id, true, "earlier")));
        }
        nodes.clear();
        NODES.forEach(id -> nodes.add(node(id, "away", null)));
        assertThat(replaced()).containsExactly("demo-a-0");

        sketch.pod(PoolSketch.notReady(pod("demo-a-0", true, current("a"))));
        assertThat(replaced()).as("it is on its way up").isEmpty();

        sketch.pod(pod("demo-a-0", true, current("a")));
        nodes.removeIf(node -> node.id().equals("demo-a-0"));
        nodes.add(node("demo-a-0", "ready", null));
        assertThat(replaced()).containsExactly("demo-a-1");
    }

    @Test
    void noFurtherOneAfterALoss() {
        renewed("demo-b-1");
        nodes.add(node("demo-b-1", "ready", 7L));

        PoolPlan plan = plan();

        assertThat(plan.replacePods()).isEmpty();
        assertThat(plan.heldBack())
                .containsExactly("demo-b-1 came back without 7 of its objects, so demo-a-0, demo-a-1, demo-b-0 keep"
                        + " earlier settings. Its log says why. When that is put right, another leader goes on from what is there: kubectl"
                        + " kvpool failover demo -n ns. spec.onDataLoss Replace goes on whatever is lost.");
    }

    @Test
    void aLossInASetOfWhichNoPodIsMadeAnewHoldsNobody() {
        for (String id : List.of("demo-b-0", "demo-b-1")) {
            renewed(id);
            nodes.add(node(id, "ready", 7L));
        }

        PoolPlan plan = plan();

        assertThat(plan.heldBack()).isEmpty();
        assertThat(plan.replacePods()).extracting(ObservedPod::name).containsExactly("demo-a-0");
    }

    @Test
    void aLossMayBeAccepted() {
        sketch("onDataLoss: Replace, ");
        renewed("demo-b-1");
        nodes.add(node("demo-b-1", "ready", 7L));
        assertThat(replaced()).containsExactly("demo-a-0");
    }

    private void sketch(String options) {
        String spec = "{" + options
                + "storage: [{name: a, capacity: 1Gi, replicas: 2, volume: {type: persistentVolumeClaim}},"
                + " {name: b, capacity: 1Gi, replicas: 2, volume: {type: persistentVolumeClaim}}]}";
        PoolPlan plan = new PoolSketch(spec).plan();
        sketch = new PoolSketch(spec);
        plan.apply().stream().filter(StatefulSet.class::isInstance).forEach(sketch::child);
        nodes.clear();
        NODES.forEach(id -> {
            sketch.pod(pod(id, true, "earlier"));
            nodes.add(node(id, "ready", null));
        });
        sketch.masters(2, 1, PoolSketch.leader(nodes));
        for (String master : List.of("demo-master-0", "demo-master-1")) {
            sketch.pod(PoolSketch.pod(master, PoolLabels.ROLE_MASTER, "", true, currentOfMasters()));
        }
    }

    private List<String> replaced() {
        return plan().replacePods().stream().map(ObservedPod::name).toList();
    }

    private PoolPlan plan() {
        if (sketch.observation().leaderReport().isPresent()) {
            sketch.says("demo-master-0", PoolSketch.leader(nodes));
        }
        return sketch.plan();
    }

    private void renewed(String id) {
        sketch.pod(pod(id, true, current("b")));
        nodes.removeIf(node -> node.id().equals(id));
    }

    private String current(String set) {
        return settings("demo-" + set);
    }

    private String currentOfMasters() {
        return settings("demo-master");
    }

    private String settings(String name) {
        for (HasMetadata child : sketch.observation().children()) {
            if (child instanceof StatefulSet set && set.getMetadata().getName().equals(name)) {
                return set.getSpec()
                        .getTemplate()
                        .getMetadata()
                        .getAnnotations()
                        .get(PoolLabels.SETTINGS);
            }
        }
        throw new AssertionError("no " + name);
    }

    private static ObservedPod pod(String id, boolean started, String settings) {
        return PoolSketch.pod(id, PoolLabels.ROLE_STORAGE, id.substring(5, 6), started, settings);
    }

    private static PoolReport.Node node(String id, String state, Long lost) {
        return Reports.node(
                id, state, "", false, 1 << 20, 5, "0.1.0", List.of(), "a1", null, null, lost, null, List.of());
    }
}
