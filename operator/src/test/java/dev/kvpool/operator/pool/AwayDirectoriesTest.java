// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.DeletionPolicy;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.naming.DirectoryList;
import dev.kvpool.operator.pool.plan.PoolPlan;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a storage node left in a directory of its node is not given up because no pod is there at that moment. */
class AwayDirectoriesTest {
    private static final String SET =
            "{name: a, capacity: 1Gi, perNode: {nodeSelector: {disk: fast}}, volume: {type: hostPath, path: /dev/shm/kvpool}}";
    private static final String UNSELECTED = "{%sstorage: [" + SET + "]}";
    private static final String REMOVED = "{%sstorage: [{name: b, capacity: 1Gi}]}";
    private static final Map<String, String> FAST = Map.of("disk", "fast");
    private static final Map<String, String> SLOW = Map.of("disk", "slow");
    private static final String PATH = "/dev/shm/kvpool/" + PoolSketch.UID + ".a";
    private static final String RELEASED = PATH + ",released";

    /** What a leader knows of a storage node that is away. */
    enum Knows {
        BYTES,
        OBJECTS_ON_ITS_SSD,
        NEVER_MET,
        FORGOTTEN,
        NO_LEADER;

        Optional<PoolReport> report() {
            return switch (this) {
                case BYTES -> Optional.of(PoolSketch.leader(List.of(away(1 << 20, "a1"))));
                case OBJECTS_ON_ITS_SSD -> Optional.of(PoolSketch.leader(List.of(away(0, 5, "a1"))));
                case NEVER_MET -> Optional.of(PoolSketch.leader(List.of(away(0, ""))));
                case FORGOTTEN -> Optional.of(PoolSketch.leader(List.of()));
                case NO_LEADER -> Optional.empty();
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    void aNodeThatLostItsLabelKeepsWhatTheLeaderDoesNotCallEmpty(Knows knows) {
        PoolSketch sketch = unselected("");
        knows.report().ifPresent(report -> sketch.masters(2, 1, report));
        PoolPlan plan = sketch.plan();

        assertThat(jobs(plan)).isEmpty();
        assertThat(list(plan)).isEqualTo(Map.of("a.n1", PATH));
        assertThat(plan.expectedNodes()).as("else the leader forgets it").contains("a.n1");
        assertThat(named(plan)).as("so that its pod can come back").containsExactly("n1");
        assertThat(plan.outstanding().waiting())
                .singleElement()
                .asString()
                .startsWith(
                        "Storage set a keeps its storage on n1, which it no longer selects, until that is empty. What a.n1 may"
                                + " hold is on a volume, and its pod does not run now")
                .contains("spec.drain.onLeftovers", "spec.onDataLoss");
        assertThat(PoolSketch.emptied(plan))
                .extracting(StepStatus::of)
                .isEqualTo(knows == Knows.NO_LEADER ? List.of() : List.of("a.n1"));
    }

    @ParameterizedTest
    @EnumSource
    void soDoesASetThatIsRemoved(Knows knows) {
        PoolSketch sketch = removed("").child(daemonSet());
        knows.report().ifPresent(report -> sketch.masters(2, 1, report));
        PoolPlan plan = sketch.plan();

        assertThat(jobs(plan)).isEmpty();
        assertThat(plan.delete()).isEmpty();
        assertThat(plan.expectedNodes()).contains("a.n1");
        assertThat(plan.outstanding().waiting())
                .singleElement()
                .asString()
                .contains("stays until a.n1 is empty. What a.n1 may hold");
    }

    @ParameterizedTest
    @EnumSource
    void soDoesOneWhoseDaemonSetSomebodyDeleted(Knows knows) {
        PoolSketch sketch = removed("");
        knows.report().ifPresent(report -> sketch.masters(2, 1, report));
        PoolPlan plan = sketch.plan();

        assertThat(jobs(plan)).isEmpty();
        assertThat(plan.expectedNodes()).contains("a.n1");
        assertThat(plan.outstanding().waiting())
                .singleElement()
                .asString()
                .contains("emptied when the set is in the spec again");
    }

    @Test
    void aPodThatNeverRanDoesNotMeanThatTheOneBeforeItDidNot() {
        PoolPlan plan = unselected("")
                .pod(PoolSketch.perNodePod("a", "n1", false, "any"))
                .masters(2, 1, PoolSketch.leader(List.of(away(1 << 20, "a1"))))
                .plan();

        assertThat(plan.expectedNodes()).contains("a.n1");
        assertThat(PoolSketch.emptied(plan)).extracting(StepStatus::of).containsExactly("a.n1");
    }

    @Test
    void oneThatTheLeaderKnowsToBeEmptyGoes() {
        PoolReport empty = PoolSketch.leader(List.of(away(0, "a1")));

        PoolPlan plan = unselected("").masters(2, 1, empty).plan();
        assertThat(jobs(plan)).hasSize(1);
        assertThat(named(plan)).isEmpty();
        assertThat(plan.expectedNodes()).doesNotContain("a.n1");

        PoolPlan set = removed("").child(daemonSet()).masters(2, 1, empty).plan();
        assertThat(set.delete()).extracting(it -> it.getMetadata().getName()).containsExactly("demo-a");
        assertThat(jobs(set))
                .as("its DaemonSet may put a pod there until it is gone")
                .isEmpty();
        assertThat(list(set)).isEqualTo(Map.of("a.n1", RELEASED));
    }

    @Test
    void aNodeThatLeftTheClusterKeepsNothing() {
        PoolPlan plan = written(new PoolSketch(UNSELECTED.formatted("")), PATH)
                .masters(2, 1, PoolSketch.leader(List.of(away(1 << 20, "a1"))))
                .plan();

        assertThat(list(plan)).isEmpty();
        assertThat(plan.expectedNodes()).isEmpty();
        assertThat(PoolSketch.emptied(plan)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {UNSELECTED, REMOVED})
    void theSpecMayAllowToLoseIt(String spec) {
        PoolPlan plan = written(new PoolSketch(spec.formatted("onDataLoss: Replace, ")), PATH)
                .node("n1", SLOW)
                .masters(2, 1, PoolSketch.leader(List.of(away(1 << 20, "a1"))))
                .plan();

        assertThat(jobs(plan)).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"Wait, LEFTOVERS", "Drop, DROPPED"})
    void inTheEndTheSpecDecidesWhatBecomesOfItAndItIsCounted(String onLeftovers, StepState then) {
        PoolSketch sketch = unselected("drain: {timeout: 1h, onLeftovers: " + onLeftovers + "}, ")
                .status(PoolSketch.statusWith(List.of(drain(StepState.UNDER_WAY))))
                .masters(2, 1, PoolSketch.leader(List.of(away(1 << 20, "a1"))))
                .ledAllAlong();
        PoolPlan plan = sketch.plan();

        assertThat(jobs(plan)).as("not before it is written down").isEmpty();
        assertThat(PoolSketch.emptied(plan)).singleElement().satisfies(drain -> {
            assertThat(drain.state()).isEqualTo(then);
            assertThat(drain.waitsFor())
                    .isEqualTo("it is away with 5 objects of about 1Mi, of which others may have copies");
        });

        PoolPlan next =
                sketch.status(PoolSketch.statusWith(plan.transitions().steps())).plan();
        assertThat(jobs(next)).hasSize(then == StepState.DROPPED ? 1 : 0);
        assertThat(list(next)).isEqualTo(Map.of("a.n1", then == StepState.DROPPED ? RELEASED : PATH));
    }

    @ParameterizedTest
    @EnumSource(names = {"UNDER_WAY", "LEFTOVERS"})
    void aPodThatVanishesWhileItIsEmptiedLeavesItsDrain(StepState phase) {
        PoolPlan plan = unselected("drain: {timeout: 1h}, ")
                .status(PoolSketch.statusWith(List.of(drain(phase))))
                .masters(2, 1, PoolSketch.leader(List.of(away(1 << 20, "a1"))))
                .plan();

        assertThat(jobs(plan)).isEmpty();
        assertThat(PoolSketch.emptied(plan))
                .extracting(StepStatus::since)
                .containsExactly(drain(phase).since());
    }

    @ParameterizedTest
    @EnumSource
    void whatWasLetGoStaysSoUntilAJobHasRemovedIt(Knows knows) {
        for (String spec : List.of(UNSELECTED, REMOVED)) {
            PoolSketch sketch =
                    written(new PoolSketch(spec.formatted("")), RELEASED).node("n1", SLOW);
            knows.report().ifPresent(report -> sketch.masters(2, 1, report));
            PoolPlan plan = sketch.plan();

            assertThat(jobs(plan)).as("one that failed is made again").hasSize(1);
            assertThat(list(plan)).isEqualTo(Map.of("a.n1", RELEASED));
            assertThat(plan.expectedNodes()).doesNotContain("a.n1");
            assertThat(PoolSketch.emptied(plan)).isEmpty();
        }
    }

    @Test
    void aStorageNodeThatIsThereAgainIsAskedAgain() {
        PoolReport holding = PoolSketch.leader(List.of(PoolSketch.node("a.n1", "ready", "", 1 << 20, 5)));
        PoolSketch sketch = written(new PoolSketch(UNSELECTED.formatted("")), RELEASED)
                .node("n1", SLOW)
                .masters(2, 1, holding);

        PoolPlan plan =
                sketch.pod(PoolSketch.perNodePod("a", "n1", true, "any")).plan();

        assertThat(jobs(plan)).isEmpty();
        assertThat(list(plan)).isEqualTo(Map.of("a.n1", PATH));
        assertThat(named(plan)).containsExactly("n1");
        assertThat(PoolSketch.emptied(plan)).extracting(StepStatus::of).containsExactly("a.n1");
    }

    @Test
    void anEmptyOneOfASetThatStaysForOthersIsNotRemovedWhileAPodMayComeBackToIt() {
        PoolSketch sketch = new PoolSketch(REMOVED.formatted(""))
                .child(PoolSketch.directories(
                        PoolSketch.UID, PoolSketch.UID, DeletionPolicy.DELETE, Map.of("a.n1", PATH, "a.n2", PATH)))
                .child(daemonSet())
                .node("n1", FAST)
                .node("n2", FAST)
                .pod(PoolSketch.perNodePod("a", "n2", true, "any"))
                .masters(
                        2,
                        1,
                        PoolSketch.leader(List.of(away(0, "a1"), PoolSketch.node("a.n2", "ready", "", 1 << 20, 5))));
        PoolPlan plan = sketch.plan();

        assertThat(plan.delete()).isEmpty();
        assertThat(jobs(plan)).isEmpty();
        assertThat(list(plan)).isEqualTo(Map.of("a.n1", RELEASED, "a.n2", PATH));
    }

    private static PoolSketch unselected(String options) {
        return written(new PoolSketch(UNSELECTED.formatted(options)), PATH).node("n1", SLOW);
    }

    private static PoolSketch removed(String options) {
        return written(new PoolSketch(REMOVED.formatted(options)), PATH).node("n1", FAST);
    }

    private static PoolSketch written(PoolSketch sketch, String paths) {
        return sketch.child(
                PoolSketch.directories(PoolSketch.UID, PoolSketch.UID, DeletionPolicy.DELETE, Map.of("a.n1", paths)));
    }

    private static StepStatus drain(StepState phase) {
        String since = PoolSketch.NOON
                .minusSeconds(phase == StepState.UNDER_WAY ? 3601 : 7200)
                .toString();
        return PoolSketch.emptying("a.n1", phase, since, null);
    }

    private static PoolReport.Node away(long bytes, String incarnation) {
        return away(bytes, bytes == 0 ? 0 : 5, incarnation);
    }

    /** Its bytes are those in memory. */
    private static PoolReport.Node away(long bytes, long objects, String incarnation) {
        return Reports.node("a.n1", "away")
                .with("usedBytes", bytes)
                .with("objects", objects)
                .with("incarnation", incarnation)
                .build();
    }

    private static DaemonSet daemonSet() {
        return daemonSet(
                new PoolSketch(UNSELECTED.formatted("")).node("n1", FAST).plan());
    }

    private static DaemonSet daemonSet(PoolPlan plan) {
        return plan.apply().stream()
                .filter(DaemonSet.class::isInstance)
                .map(DaemonSet.class::cast)
                .findFirst()
                .orElseThrow();
    }

    /** Nodes of the cluster that the set's pods may be on whatever their labels. */
    private static List<String> named(PoolPlan plan) {
        return daemonSet(plan)
                .getSpec()
                .getTemplate()
                .getSpec()
                .getAffinity()
                .getNodeAffinity()
                .getRequiredDuringSchedulingIgnoredDuringExecution()
                .getNodeSelectorTerms()
                .stream()
                .flatMap(term -> term.getMatchFields().stream())
                .map(field -> field.getValues().getFirst())
                .toList();
    }

    private static Map<String, String> list(PoolPlan plan) {
        return plan.apply().stream()
                .filter(child -> DirectoryList.of(child).isPresent())
                .map(child -> ((ConfigMap) child).getData())
                .findFirst()
                .orElseThrow();
    }

    private static List<Job> jobs(PoolPlan plan) {
        return plan.apply().stream()
                .filter(Job.class::isInstance)
                .map(Job.class::cast)
                .toList();
    }
}
