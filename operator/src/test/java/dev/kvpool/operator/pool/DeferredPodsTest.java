// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.OperatorSettings.RolloutTerms;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.plan.PoolPlanner;
import dev.kvpool.operator.pool.report.PoolFindings;
import dev.kvpool.operator.pool.transition.Action;
import dev.kvpool.operator.pool.transition.Deferred;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What becomes of pods of which an operator makes others than the one before it did, of the same spec. */
class DeferredPodsTest {
    private static final String MEMORY = "{onDataLoss: Move, storage: [{name: a, capacity: 1Gi, replicas: 2}]}";
    private static final String VOLUMES =
            "{storage: [{name: a, capacity: 1Gi, replicas: 2, volume: {type: persistentVolumeClaim}}]}";
    private static final OperatorSettings NOW = PoolSketch.PLATFORM_USER;
    private static final OperatorSettings NOW_WITH_VOLUMES = new OperatorSettings(
            NOW.image(),
            NOW.version(),
            NOW.namespace(),
            NOW.drainTaints(),
            NOW.platformUser(),
            new RolloutTerms(3, true));

    @Test
    void theyRunOnUntilTheTurnComesToTheirPool() {
        PoolSketch sketch = sketch(MEMORY, NOW);

        Deferred deferred = plan(sketch, NOW, false).transitions().deferred();
        assertThat(deferred.untilTurn())
                .extracting(ObservedPod::name)
                .containsExactlyInAnyOrder("demo-master-0", "demo-master-1", "demo-a-0", "demo-a-1");
        assertThat(deferred.untilAsked()).isEmpty();
        assertThat(plan(sketch, NOW, false).transitions().steps()).isEmpty();
        assertThat(plan(sketch, NOW, false).actions()).isEmpty();

        assertThat(plan(sketch, NOW, true).transitions().deferred().isEmpty()).isTrue();
        assertThat(plan(sketch, NOW, true).transitions().changesSettings()).isTrue();
    }

    @Test
    void thePoolIsAsItsSpecWantsAndSaysWhatWaits() {
        PoolSketch sketch = sketch(MEMORY, NOW);
        PoolPlan plan = plan(sketch, NOW, false);

        assertThat(new PoolFindings(sketch.observation(), plan, NOW).all(List.of(), new Outcome(List.of(), List.of())))
                .contains(new Finding(
                        Reason.OF_EARLIER_OPERATOR,
                        "The spec is carried out. An earlier operator made demo-a-0, demo-a-1, demo-master-0, demo-master-1, to be replaced"
                                + " when the turn comes to this pool: one pool at a time."))
                .extracting(Finding::reason)
                .contains(Reason.COMPLETE, Reason.APPLIED);
    }

    @Test
    void storageNodesOnVolumesRunOnUntilAUserAsks() {
        PoolSketch sketch = sketch(VOLUMES, NOW);

        Deferred deferred = plan(sketch, NOW, true).transitions().deferred();
        assertThat(deferred.untilTurn()).isEmpty();
        assertThat(deferred.untilAsked()).extracting(ObservedPod::name).containsExactly("demo-a-0", "demo-a-1");
        assertThat(deferred.sentences("demo", NOW.rollout()))
                .containsExactly(
                        "An earlier operator made demo-a-0, demo-a-1, to be replaced when a user asks for a restart:"
                                + " kubectl kvpool restart demo --role storage.");
    }

    @Test
    void theChartMayAskForAllPools() {
        PoolSketch sketch = sketch(VOLUMES, NOW_WITH_VOLUMES);

        assertThat(plan(sketch, NOW_WITH_VOLUMES, false)
                        .transitions()
                        .deferred()
                        .untilAsked())
                .isEmpty();
        assertThat(plan(sketch, NOW_WITH_VOLUMES, true).transitions().deferred().isEmpty())
                .isTrue();
    }

    @Test
    void storageNodesThatWouldLoseWhatTheyHoldRunOnToo() {
        PoolSketch sketch = sketch(MEMORY.replace("Move", "Wait"), NOW);

        PoolPlan plan = plan(sketch, NOW, true);
        assertThat(plan.transitions().deferred().untilAsked())
                .extracting(ObservedPod::name)
                .containsExactly("demo-a-0", "demo-a-1");
        assertThat(plan.transitions().heldBack()).isEmpty();
    }

    @Test
    void aPodThatNeverRanHasNothingToWaitFor() {
        PoolSketch sketch = new PoolSketch(MEMORY).settings(NOW).madeBy(PoolSketch.SETTINGS, "demo-a-1");

        PoolPlan plan = plan(sketch, NOW, false);
        assertThat(plan.transitions().deferred().pods())
                .extracting(ObservedPod::name)
                .containsExactlyInAnyOrder("demo-master-0", "demo-master-1", "demo-a-0");
        assertThat(plan.actions()).containsExactly(new Action.DeletePod("demo-a-1", "uid-demo-a-1"));
    }

    @Test
    void whatAUserAsksForWaitsForNoTurn() {
        PoolSketch sketch = asked(VOLUMES);

        PoolPlan plan = plan(sketch, NOW, false);
        assertThat(plan.transitions().deferred().untilAsked()).isEmpty();
        assertThat(plan.transitions().deferred().untilTurn())
                .extracting(ObservedPod::name)
                .containsExactlyInAnyOrder("demo-master-0", "demo-master-1");
        assertThat(plan.transitions().steps())
                .filteredOn(step -> step.state() == StepState.UNDER_WAY)
                .extracting(StepStatus::of)
                .containsExactly("demo-a-1");
    }

    /** Made by the earlier operator, before the user asked. */
    private static PoolSketch asked(String spec) {
        PoolSketch sketch = sketch(spec, NOW);
        PoolSketch later =
                sketch(spec, NOW).annotation(PoolLabels.restart(PoolLabels.ROLE_STORAGE), "2026-01-01T11:00:00Z");
        sketch.observation().pods().forEach(later::pod);
        return later.retemplated();
    }

    private static PoolSketch sketch(String spec, OperatorSettings now) {
        return new PoolSketch(spec)
                .settings(now)
                .madeBy(PoolSketch.SETTINGS)
                .lease("demo-master-0", 1)
                .says(
                        "demo-master-0",
                        PoolSketch.leader(List.of(
                                PoolSketch.node("demo-a-0", "ready", "", 0, 0),
                                PoolSketch.node("demo-a-1", "ready", "", 0, 0))));
    }

    private static PoolPlan plan(PoolSketch sketch, OperatorSettings settings, boolean turn) {
        PoolObservation seen = sketch.observation();
        return new PoolPlanner(settings).plan(seen, List.of(), turn);
    }
}
