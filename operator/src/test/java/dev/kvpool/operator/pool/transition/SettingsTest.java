// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepFacts;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.RollMode;
import dev.kvpool.operator.Altered;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.plan.PoolPlan;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods with earlier settings: masters, and storage nodes of two sets on claims. Which are recreated, and when. */
class SettingsTest {
    private static final List<String> NODES = List.of("demo-a-0", "demo-a-1", "demo-b-0", "demo-b-1");

    private final List<PoolReport.Node> nodes = new ArrayList<>();
    private PoolSketch sketch;

    @BeforeEach
    void twoSets() {
        sketch("");
    }

    @Test
    void oneOfAllSetsAtATime() {
        assertThat(replaced()).containsExactly("demo-b-1");
    }

    @Test
    void asManyAsMayBeAwayInAnUpgrade() {
        sketch("upgrade: {maxUnavailable: 3}, ");
        assertThat(replaced()).containsExactly("demo-b-1", "demo-b-0", "demo-a-1");
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

    /** Its volume may be on that machine alone, and no pod is scheduled there. */
    @Test
    void noneOnAKubernetesNodeThatIsCordoned() {
        sketch.cordoned("worker")
                .status(PoolSketch.statusWith(plan().transitions().steps()));
        PoolPlan plan = plan();
        assertThat(PoolSketch.replaced(plan)).isEmpty();
        assertThat(plan.transitions().waits())
                .extracting(Wait::sentence)
                .contains("Kubernetes node worker is cordoned, so that its pod might not come back");
    }

    /** One that gives its leadership away in that time would be overdue afterwards, and an upgrade go back for it. */
    @Test
    void timeInWhichThePoolIsPausedCountsForNoStep() {
        String since = PoolSketch.NOON.minus(Duration.ofHours(1)).toString();
        StepStatus begun =
                new StepStatus("demo-master-0", StepKind.HAND_OVER, StepCause.UPGRADE, StepState.UNDER_WAY, since);
        PoolSketch paused = new PoolSketch("{paused: true, storage: [{name: a, capacity: 1Gi}]}")
                .set("a", 1)
                .masters(2, 1, PoolSketch.leader(List.of()))
                .status(PoolSketch.statusWith(List.of(begun)));

        assertThat(paused.plan().transitions().steps())
                .extracting(step -> step.progress().at())
                .containsExactly(PoolSketch.NOON.toString());
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
        assertThat(replaced()).containsExactly("demo-b-1");
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
        sketch.ledAllAlong();
        sketch.status(PoolSketch.statusWith(
                NODES.stream().map(id -> waiting(id, Duration.ofHours(1))).toList()));
        PoolPlan first = plan();
        assertThat(PoolSketch.replaced(first)).containsExactly("demo-b-1");

        sketch.status(PoolSketch.statusWith(first.transitions().steps()));
        sketch.pod(PoolSketch.notReady(PoolSketch.again(pod("demo-b-1", true, current("b")))));
        assertThat(replaced()).as("it is on its way up").containsExactly("demo-b-1");

        sketch.pod(PoolSketch.again(pod("demo-b-1", true, current("b"))));
        nodes.removeIf(node -> node.id().equals("demo-b-1"));
        nodes.add(PoolSketch.node("demo-b-1", "ready", "", 1 << 20, 5));
        assertThat(replaced()).containsExactly("demo-b-0");
    }

    /** It was killed, so that only the machine where it ran believes its volume, and its next pod may come to another one. */
    @Test
    void oneThatIsNotReadyMayGetReadyBeforeItsVolumeIsMoved() {
        breaks("demo-b-1");
        PoolPlan plan = plan();
        assertThat(PoolSketch.replaced(plan)).isEmpty();
        assertThat(plan.transitions().waits())
                .extracting(Wait::sentence)
                .contains("storage node demo-b-1 is not ready (away), and has 10m to get ready by itself: on another"
                        + " Kubernetes node what it holds might be lost");

        sketch.ledAllAlong().status(PoolSketch.statusWith(List.of(waiting("demo-b-1", Duration.ofMinutes(9)))));
        assertThat(replaced()).isEmpty();
        sketch.status(PoolSketch.statusWith(List.of(waiting("demo-b-1", Duration.ofMinutes(11)))));
        assertThat(replaced()).containsExactly("demo-b-1");
    }

    @Test
    void oneThatIsNotReadyIsReplacedAtOnceWhereBytesMayBeLostOrThereAreNone() {
        sketch("onDataLoss: Replace, ");
        breaks("demo-b-1");
        assertThat(replaced()).containsExactly("demo-b-1");

        sketch("");
        breaks("demo-b-1");
        nodes.removeLast();
        nodes.add(PoolSketch.node("demo-b-1", "away", "", 0, 0));
        assertThat(replaced()).containsExactly("demo-b-1");
    }

    private void breaks(String id) {
        sketch.pod(PoolSketch.notReady(pod(id, true, "earlier")));
        nodes.removeIf(node -> node.id().equals(id));
        nodes.add(node(id, "away", null));
    }

    private static StepStatus waiting(String id, Duration time) {
        return new StepStatus(
                id,
                StepKind.REPLACE,
                StepCause.SETTINGS,
                StepState.WAITING,
                PoolSketch.NOON.minus(time).toString());
    }

    /** The first change of a pool that nothing was put into. What is put meanwhile is not lost: the leader is told first to put nothing there. */
    @Test
    void oneInMemoryThatHoldsNothingIsEmptiedAndReplacedThoughBytesShallNotBeLost() {
        PoolSketch fresh = inMemory(PoolSketch.node("demo-a-0", "ready", "", 0, 0));
        PoolPlan plan = fresh.plan();
        assertThat(plan.transitions().words().heldBack()).isEmpty();
        assertThat(PoolSketch.emptied(plan))
                .extracting(StepStatus::of, StepStatus::because)
                .containsExactly(tuple("demo-a-0", StepCause.SETTINGS));

        PoolPlan used =
                inMemory(PoolSketch.node("demo-a-0", "ready", "", 1 << 20, 1)).plan();
        assertThat(PoolSketch.emptied(used)).isEmpty();
        assertThat(used.transitions().words().heldBack()).contains("would lose about 1Mi in 1 objects");
    }

    @Test
    void whatNoLeaderHasSeenIsNotCounted() {
        PoolSketch unmet = inMemory(Altered.of(PoolSketch.node("demo-a-0", "away", "", 0, 0))
                .with("incarnation", "")
                .build());
        assertThat(unmet.plan().transitions().words().heldBack())
                .isEqualTo(
                        "demo-a-0 still runs with earlier settings: replacing it would lose what is there, which no leader has seen.");
    }

    private static PoolSketch inMemory(PoolReport.Node node) {
        return new PoolSketch("{storage: [{name: a, capacity: 1Gi}]}")
                .set("a", 1)
                .pod(PoolSketch.pod("demo-a-0", PoolLabels.ROLE_STORAGE, "a", true, "earlier"))
                .masters(2, 1, PoolSketch.leader(List.of(node)));
    }

    @Test
    void noFurtherOneAfterALoss() {
        renewed("demo-b-1");
        nodes.add(node("demo-b-1", "ready", 7L));

        PoolPlan plan = plan();

        assertThat(PoolSketch.replaced(plan)).isEmpty();
        assertThat(plan.transitions().words().heldBack())
                .isEqualTo("demo-b-1 came back without 7 of its objects, so demo-a-0, demo-a-1, demo-b-0 keep"
                        + " earlier settings. Its log says why. When that is put right, another leader goes on from what is there: kubectl"
                        + " kvpool failover. spec.onDataLoss Replace goes on whatever is lost.");
    }

    @Test
    void aLossInASetOfWhichNoPodIsMadeAnewHoldsNobody() {
        for (String id : List.of("demo-b-0", "demo-b-1")) {
            renewed(id);
            nodes.add(node(id, "ready", 7L));
        }

        PoolPlan plan = plan();

        assertThat(plan.transitions().words().heldBack()).isEmpty();
        assertThat(PoolSketch.replaced(plan)).containsExactly("demo-a-1");
    }

    @Test
    void aLossMayBeAccepted() {
        sketch("onDataLoss: Replace, ");
        renewed("demo-b-1");
        nodes.add(node("demo-b-1", "ready", 7L));
        assertThat(replaced()).containsExactly("demo-b-0");
    }

    @Test
    void standbysComeBeforeTheLeaderAndThatHandsOverFirst() {
        assertThat(nextOf(masters("old", "old", "old"))).containsExactly("REPLACE demo-master-2");
        assertThat(nextOf(masters("old", "old", "new"))).containsExactly("REPLACE demo-master-1");
        assertThat(nextOf(masters("old", "new", "new"))).containsExactly("HAND_OVER demo-master-0");
        assertThat(nextOf(masters("new", "new", "new"))).isEmpty();
    }

    /** Its pod used to be deleted whether another master could go on or not. */
    @Test
    void theLeaderIsNotTakenAwayBeforeOthersKnowWhatItKnows() {
        PoolSketch sketch = masters("old", "new", "new");
        sketch.says("demo-master-0", PoolSketch.leader(List.of(node("demo-a-0", "ready", null))));

        assertThat(nextOf(sketch)).isEmpty();
        assertThat(sketch.plan().transitions().waits())
                .extracting(Wait::sentence)
                .containsExactly(
                        "master demo-master-1 has not read the directory of storage node demo-a-0, which the leader"
                                + " knows");
    }

    @Test
    void noMasterIsTakenAwayWhileAnotherIsNotReady() {
        PoolSketch sketch = masters("old", "old", "new");
        sketch.pod(PoolSketch.notReady(master(2, "new")));

        assertThat(nextOf(sketch)).isEmpty();
    }

    @Test
    void noMasterIsTakenAwayWhileAnotherHasNoPod() {
        assertThat(nextOf(masters("old", "old"))).isEmpty();
    }

    @Test
    void aMasterThatIsNotReadyAnywayIsRecreated() {
        PoolSketch sketch = masters("old", "old", "old");
        sketch.pod(PoolSketch.notReady(master(1, "old")));

        assertThat(nextOf(sketch)).containsExactly("REPLACE demo-master-1");
    }

    @Test
    void withoutALeaderNoMasterIsTakenAway() {
        assertThat(nextOf(masters("old", "old", "old").silent("demo-master-0"))).isEmpty();
    }

    private static PoolSketch masters(String... settings) {
        PoolSketch sketch = new PoolSketch("{masters: {replicas: 3}, storage: [{name: a, capacity: 1Gi}]}")
                .masters(settings.length, 1, PoolSketch.leader(List.of()))
                .child(PoolSketch.statefulSet("master", 3));
        for (int i = 0; i < settings.length; i++) {
            sketch.pod(master(i, settings[i]));
        }
        return sketch;
    }

    private static ObservedPod master(int ordinal, String settings) {
        return PoolSketch.pod("demo-master-" + ordinal, PoolLabels.ROLE_MASTER, "", true, settings);
    }

    private static List<String> nextOf(PoolSketch sketch) {
        return begun(sketch.plan());
    }

    private static List<String> begun(PoolPlan plan) {
        return plan.transitions().steps().stream()
                .filter(step -> step.state() != StepState.WAITING)
                .map(step -> step.kind() + " " + step.of())
                .toList();
    }

    /** The step of the upgrade and the settings used to take two away in one look. */
    @Test
    void noneBesideAStepOfAnUpgradeThatBeginsInTheSameLook() {
        sketch("image: 'new:2', ");
        sketch.pod(PoolSketch.withImage("new:2", master(0, currentOfMasters())));
        sketch.pod(PoolSketch.withImage("new:2", master(1, currentOfMasters())));
        sketch.says("demo-master-1", PoolSketch.standby("demo-master-1", nodes));
        sketch.status(PoolSketch.statusWith(
                PoolSketch.asking("new:2", PoolSketch.IMAGE).roll().begun(RollMode.WARM, PoolSketch.NOON.toString())));

        assertThat(begun(plan())).containsExactly("RESTART demo-b-1");
    }

    /** The pod that may be evicted from now on used not to count. */
    @Test
    void noneBesideAPodThatMayBeEvictedFromThisLookOn() {
        sketch.cordoned("worker");

        assertThat(plan().transitions().steps())
                .filteredOn(step -> step.state() != StepState.WAITING)
                .extracting(StepStatus::of, StepStatus::state)
                .containsExactly(tuple("demo-a-0", StepState.KEPT));
    }

    /** Its pod is made again at once, as what it holds outlives it. */
    @Test
    void aStorageNodeThatIsMovedNoMoreTakesPartAgain() {
        sketch("onDataLoss: Move, ");
        sketch.ledAllAlong().status(PoolSketch.statusWith(List.of(stepOf("demo-b-1", StepKind.EMPTY))));

        assertThat(begun(plan())).startsWith("TAKE_BACK demo-b-1");
    }

    /** The gate used to be skipped. */
    @Test
    void aMasterMadeAnewIsAwaitedWithoutFacts() {
        sketch.ledAllAlong().status(PoolSketch.statusWith(List.of(stepOf("demo-master-1", StepKind.REPLACE))));
        sketch.pod(PoolSketch.notReady(
                PoolSketch.pod("demo-master-1", PoolLabels.ROLE_MASTER, "", true, currentOfMasters())));

        assertThat(begun(plan())).containsExactly("REPLACE demo-master-1");
    }

    private static StepStatus stepOf(String of, StepKind kind) {
        return new StepStatus(of, kind, StepCause.SETTINGS, StepState.UNDER_WAY, PoolSketch.NOON.toString());
    }

    /** Of an edited status. */
    @Test
    void aStepWithoutFactsIsOverWhenItsPodTakesPart() {
        sketch("");
        sketch.ledAllAlong().status(PoolSketch.statusWith(List.of(stepOf("demo-b-1", StepKind.REPLACE))));
        sketch.pod(pod("demo-b-1", true, current("b")));

        assertThat(plan().transitions().steps()).extracting(StepStatus::of).doesNotContain("demo-b-1");
    }

    /** Its leader leads for half a minute only: a pod gets ready, or not, under any. */
    @Test
    void aPodThatDoesNotGetReadyInTimeFailsAndNoOtherIsRecreated() {
        sketch("upgrade: {maxUnavailable: 2}, ");
        StepStatus step = new StepStatus(
                        "demo-b-1",
                        StepKind.REPLACE,
                        StepCause.SETTINGS,
                        StepState.UNDER_WAY,
                        PoolSketch.NOON.minusSeconds(3600).toString())
                .with(new StepFacts(
                        "demo-b-1", StepCause.SETTINGS, "uid-of-the-pod-before", 0, "a0", 5L, null, null, null));
        sketch.status(PoolSketch.statusWith(List.of(step)));
        sketch.pod(PoolSketch.notReady(pod("demo-b-1", true, current("b"))));

        PoolPlan plan = plan();

        assertThat(begun(plan)).containsExactly("REPLACE demo-b-1");
        assertThat(plan.transitions().steps().getFirst().state()).isEqualTo(StepState.FAILED);
        assertThat(plan.transitions().words().replacing()).endsWith("demo-b-1 did not get ready within 10m.");
    }

    /** The step that had failed used to be counted against the one that mends it: a corrected spec was never carried out. */
    @ParameterizedTest
    @ValueSource(strings = {"demo-b-1", "demo-master-1"})
    void whatDidNotGetReadyIsReplacedWithTheNextSettings(String of) {
        StepStatus step = new StepStatus(
                        of,
                        StepKind.REPLACE,
                        StepCause.SETTINGS,
                        StepState.FAILED,
                        PoolSketch.NOON.minusSeconds(3600).toString())
                .with(new StepFacts(of, StepCause.SETTINGS, "uid-of-the-pod-before", 0, "a0", 5L, null, null, null));
        sketch("");
        sketch.ledAllAlong().status(PoolSketch.statusWith(List.of(step)));
        sketch.pod(PoolSketch.notReady(
                of.contains("master")
                        ? PoolSketch.pod(of, PoolLabels.ROLE_MASTER, "", true, "that do not work")
                        : pod(of, true, "that do not work")));

        assertThat(plan().transitions().steps())
                .filteredOn(it -> it.state() != StepState.WAITING)
                .extracting(StepStatus::of, StepStatus::kind, StepStatus::state)
                .containsExactly(tuple(of, StepKind.REPLACE, StepState.UNDER_WAY));
    }

    /** While the API server took no writes its time ran out: the change had failed for good, of a pod that nothing was done about. */
    @Test
    void aPodThatCouldNotBeDeletedInTimeHasNotFailedAndIsDeleted() {
        PoolPlan plan = notDeleted();

        assertThat(plan.transitions().steps().getFirst())
                .extracting(StepStatus::of, StepStatus::state, StepStatus::since)
                .containsExactly("demo-b-1", StepState.UNDER_WAY, PoolSketch.NOON.toString());
        assertThat(plan.actions()).contains(new Action.DeletePod("demo-b-1", "uid-demo-b-1"));
    }

    private PoolPlan notDeleted() {
        StepStatus step = new StepStatus(
                        "demo-b-1",
                        StepKind.REPLACE,
                        StepCause.SETTINGS,
                        StepState.UNDER_WAY,
                        PoolSketch.NOON.minusSeconds(3600).toString())
                .with(new StepFacts("demo-b-1", StepCause.SETTINGS, "uid-demo-b-1", 0, "a1", 5L, null, null, null));
        sketch("");
        sketch.ledAllAlong().status(PoolSketch.statusWith(List.of(step)));
        return plan();
    }

    /** A scale-down without room used to block every upgrade. */
    @Test
    void aStorageNodeThatCannotBeEmptiedDoesNotHoldUpAnUpgrade() {
        PoolSketch stuck = new PoolSketch("{image: 'new:2', storage: [{name: a, capacity: 1Gi, replicas: 2}]}")
                .set("a", 3)
                .masters(
                        2,
                        1,
                        PoolSketch.leader(List.of(
                                node("demo-a-0", "ready", null),
                                node("demo-a-1", "ready", null),
                                Reports.drained("demo-a-2", 7))));
        stuck.pod(PoolSketch.withImage("new:2", master(0, "a"))).pod(PoolSketch.withImage("new:2", master(1, "a")));
        stuck.says(
                "demo-master-1",
                PoolSketch.standby(
                        "demo-master-1",
                        List.of(
                                node("demo-a-0", "ready", null),
                                node("demo-a-1", "ready", null),
                                node("demo-a-2", "ready", null))));
        stuck.status(PoolSketch.statusWith(
                PoolSketch.asking("new:2", PoolSketch.IMAGE).roll().begun(RollMode.WARM, PoolSketch.NOON.toString()),
                List.of(PoolSketch.emptying("demo-a-2", StepState.LEFTOVERS, PoolSketch.NOON.toString(), null))));

        assertThat(begun(stuck.plan())).containsExactly("EMPTY demo-a-2", "RESTART demo-a-1");
    }

    @Test
    void whatMastersWaitForIsNamedWithTheWayToFixIt() {
        sketch("");
        StepStatus step = stepOf("demo-b-1", StepKind.REPLACE)
                .with(new StepFacts(
                        "demo-b-1", StepCause.SETTINGS, "uid-of-the-pod-before", 0, "a0", 5L, null, null, null))
                .begun(PoolSketch.NOON.minusSeconds(3600).toString());
        sketch.status(PoolSketch.statusWith(List.of(step)));
        sketch.pod(PoolSketch.notReady(pod("demo-b-1", true, current("b"))));
        sketch.pod(PoolSketch.pod("demo-master-0", PoolLabels.ROLE_MASTER, "", true, currentOfMasters()));
        sketch.annotation(PoolLabels.FAILOVER, "1");

        assertThat(plan().transitions().waits())
                .filteredOn(wait -> wait.of().equals("demo-master-0"))
                .extracting(Wait::sentence)
                .containsExactly(
                        "storage node demo-b-1 comes first, which was to be recreated: demo-b-1 did not get ready"
                                + " within 10m; correct the spec, or delete its pod");
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
        return PoolSketch.replaced(plan());
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
        return Reports.node(id, state)
                .with("usedBytes", 1L << 20)
                .with("objects", 5L)
                .with("incarnation", "a1")
                .with("lostAtReturn", lost)
                .build();
    }
}
