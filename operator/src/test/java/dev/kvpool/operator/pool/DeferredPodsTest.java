// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.Altered;
import dev.kvpool.operator.pool.child.AgentDaemonSet;
import dev.kvpool.operator.pool.naming.OwnContainer;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.Workloads;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.OperatorSettings.RolloutTerms;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.AgentPods;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.plan.PoolPlanner;
import dev.kvpool.operator.pool.report.PoolFindings;
import dev.kvpool.operator.pool.transition.Action;
import dev.kvpool.operator.pool.transition.Deferred;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What becomes of pods of which an operator makes others than the one before it did, of the same spec. */
class DeferredPodsTest {
    private static final String MEMORY = "{onDataLoss: Move, storage: [{name: a, capacity: 1Gi, replicas: 2}]}";
    private static final String VOLUMES =
            "{storage: [{name: a, capacity: 1Gi, replicas: 2, volume: {type: persistentVolumeClaim}}]}";
    private static final String AGENTS =
            "{transferEngine: demo, onDataLoss: Move, storage: [{name: a, capacity: 1Gi, replicas: 2}]}";
    private static final String TWO_SETS = "{onDataLoss: Move, storage: [{name: a, capacity: 1Gi, replicas: %d},"
            + " {name: b, capacity: %s, replicas: 1}]}";
    private static final String PER_NODE =
            "{storage: [{name: a, capacity: 1Gi, perNode: {nodeSelector: {disks: 'yes'}}, volume: {type: hostPath, path: /dev/shm/kvpool}}]}";
    private static final OperatorSettings NOW = PoolSketch.PLATFORM_USER;
    private static final OperatorSettings NOW_WITH_VOLUMES = new OperatorSettings(
            NOW.image(),
            NOW.version(),
            NOW.namespace(),
            NOW.serviceAccount(),
            NOW.drainTaints(),
            NOW.platformUser(),
            false,
            NOW.rotation(),
            new RolloutTerms(3, true));

    @Test
    void theyRunOnUntilTheTurnComesToTheirPool() {
        PoolSketch sketch = sketch(MEMORY, NOW);

        Deferred deferred = plan(sketch, NOW, false).deferred();
        assertThat(deferred.untilTurn())
                .extracting(ObservedPod::name)
                .containsExactlyInAnyOrder("demo-master-0", "demo-master-1", "demo-a-0", "demo-a-1");
        assertThat(deferred.untilAsked()).isEmpty();
        assertThat(plan(sketch, NOW, false).transitions().steps()).isEmpty();
        assertThat(plan(sketch, NOW, false).actions()).isEmpty();

        PoolPlan turn = plan(sketch, NOW, true);
        assertThat(turn.defers()).isFalse();
        sketch.after(turn);
        assertThat(plan(sketch, NOW, true).transitions().changesSettings()).isTrue();
        assertThat(plan(sketch, NOW, false).deferred().untilTurn())
                .as("when it has lost its turn")
                .hasSize(4);
    }

    @Test
    void onesThatDieMeanwhileComeBackAsTheyWere() {
        PoolSketch sketch = sketch(MEMORY, NOW);
        Map<String, String> before = notes(sketch.observation().children(), PoolLabels.SETTINGS);

        PoolPlan waiting = plan(sketch, NOW, false);
        assertThat(notes(waiting.apply(), PoolLabels.SETTINGS)).isEqualTo(before);
        assertThat(templates(waiting.apply()))
                .isEqualTo(templates(sketch.observation().children()));
        assertThat(notes(plan(sketch, NOW, true).apply(), PoolLabels.SETTINGS))
                .hasSameSizeAs(before)
                .doesNotContainEntry("demo-master", before.get("demo-master"))
                .doesNotContainEntry("demo-a", before.get("demo-a"));
    }

    @Test
    void agentsWaitToo() {
        PoolSketch sketch = sketch(AGENTS, NOW);
        Map<String, PodTemplateSpec> before = templates(sketch.observation().children());

        PoolPlan waiting = plan(sketch, NOW, false);
        assertThat(waiting.deferred().untilTurn()).extracting(ObservedPod::name).contains("demo-agent-0");
        assertThat(templates(waiting.apply())).containsEntry("demo-agent", before.get("demo-agent"));

        PoolPlan turn = plan(sketch, NOW, true);
        assertThat(templates(turn.apply())).doesNotContainEntry("demo-agent", before.get("demo-agent"));
        assertThat(AgentPods.areReplaced(sketch.observation())).isFalse();
        assertThat(AgentPods.areReplaced(sketch.after(turn).observation())).isTrue();
    }

    /** It is written again at once, which begins the replacement. */
    @Test
    void agentsOfATemplateThatSaysNothingAreNotBeingReplaced() {
        PoolObservation seen = sketch(AGENTS, NOW).observation();
        seen.children().stream()
                .filter(AgentDaemonSet::is)
                .map(DaemonSet.class::cast)
                .forEach(agents -> agents.getSpec()
                        .getTemplate()
                        .getMetadata()
                        .getAnnotations()
                        .remove(PoolLabels.SETTINGS));
        PoolObservation fallen = Altered.of(seen)
                .with(
                        "pods",
                        seen.pods().stream()
                                .map(pod -> Altered.of(pod).with("ready", false).build())
                                .toList())
                .build();

        assertThat(AgentPods.areReplaced(fallen)).isFalse();
    }

    @Test
    void whatAUserChangesAppliesAtOnce() {
        PoolSketch earlier = sketch(TWO_SETS.formatted(2, "1Gi"), NOW);
        PoolSketch sketch = led(TWO_SETS.formatted(3, "2Gi")).settings(NOW).of(earlier);
        Map<String, PodTemplateSpec> before = templates(sketch.observation().children());

        PoolPlan plan = plan(sketch, NOW, false);
        assertThat(templates(plan.apply()))
                .containsEntry("demo-a", before.get("demo-a"))
                .containsEntry("demo-master", before.get("demo-master"))
                .doesNotContainEntry("demo-b", before.get("demo-b"));
        assertThat(plan.apply())
                .filteredOn(child -> child.getMetadata().getName().equals("demo-a"))
                .extracting(child -> ((StatefulSet) child).getSpec().getReplicas())
                .containsExactly(3);
    }

    @Test
    void theImageOfAnUpgradeAndTheNodesOfAPerNodeSetApplyAtOnce() {
        PodTemplateSpec stored = perNode().getSpec().getTemplate();
        stored.getSpec().setTerminationGracePeriodSeconds(1L);
        stored.getSpec().setAffinity(null);
        DaemonSet made = perNode();
        made.getSpec().getTemplate().getMetadata().setAnnotations(OwnContainer.note("kvpool:0.2.0"));

        PodTemplateSpec kept =
                Workloads.template(Workloads.keeping(stored, made)).orElseThrow();

        assertThat(kept.getSpec().getAffinity())
                .isEqualTo(made.getSpec().getTemplate().getSpec().getAffinity())
                .isNotNull();
        assertThat(Stream.of(kept.getSpec().getContainers(), kept.getSpec().getInitContainers()))
                .allSatisfy(containers ->
                        assertThat(containers).extracting(Container::getImage).containsExactly("kvpool:0.2.0"));
        assertThat(OwnContainer.wishedImage(kept)).isEqualTo("kvpool:0.2.0");
        assertThat(kept.getSpec().getTerminationGracePeriodSeconds()).isEqualTo(1);
    }

    @Test
    void aPoolThatWasNeverLedHasNothingToWaitFor() {
        PoolSketch sketch = new PoolSketch(MEMORY).settings(NOW).madeBy(PoolSketch.SETTINGS, "demo-a-0", "demo-a-1");

        PoolPlan plan = plan(sketch, NOW, false);
        assertThat(plan.defers()).isFalse();
        assertThat(plan(sketch.after(plan), NOW, false).actions())
                .contains(new Action.DeletePod("demo-a-1", "uid-demo-a-1"));
    }

    @Test
    void thePoolIsAsItsSpecWantsAndSaysWhatWaits() {
        PoolSketch sketch = sketch(MEMORY, NOW);
        PoolPlan plan = plan(sketch, NOW, false);

        assertThat(new PoolFindings(sketch.observation(), plan, NOW).all(List.of(), new Outcome(List.of(), List.of())))
                .contains(new Finding(
                        Reason.OF_EARLIER_OPERATOR,
                        "The spec is carried out. An earlier operator made demo-a-0, demo-a-1, demo-master-0, demo-master-1, to be replaced"
                                + " when the turn comes to this pool: one pool at a time. To administrators metric kvpool_rollout_turn of the operator"
                                + " says whose turn it is."))
                .extracting(Finding::reason)
                .contains(Reason.COMPLETE, Reason.APPLIED);
    }

    @Test
    void storageNodesOnVolumesRunOnUntilAUserAsks() {
        PoolSketch sketch = sketch(VOLUMES, NOW);

        Deferred deferred = plan(sketch, NOW, true).deferred();
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

        assertThat(plan(sketch, NOW_WITH_VOLUMES, false).deferred().untilAsked())
                .isEmpty();
        assertThat(plan(sketch, NOW_WITH_VOLUMES, true).deferred().isEmpty()).isTrue();
    }

    @Test
    void storageNodesThatWouldLoseWhatTheyHoldRunOnToo() {
        PoolSketch sketch = sketch(MEMORY.replace("Move", "Wait"), NOW);

        PoolPlan plan = plan(sketch, NOW, true);
        assertThat(plan.deferred().untilAsked()).extracting(ObservedPod::name).containsExactly("demo-a-0", "demo-a-1");
        assertThat(plan.transitions().words().heldBack()).isEmpty();
    }

    @Test
    void aPodThatNeverRanWaitsForNoTurnThatWasLost() {
        PoolSketch sketch = led(MEMORY).settings(NOW).madeBy(PoolSketch.SETTINGS, "demo-a-1");
        sketch.after(plan(sketch, NOW, true));

        PoolPlan plan = plan(sketch, NOW, false);
        assertThat(plan.deferred().pods())
                .extracting(ObservedPod::name)
                .containsExactlyInAnyOrder("demo-master-0", "demo-master-1", "demo-a-0");
        assertThat(plan.actions()).containsExactly(new Action.DeletePod("demo-a-1", "uid-demo-a-1"));
    }

    @Test
    void whatAUserAsksForWaitsForNoTurn() {
        PoolSketch sketch = asked(VOLUMES);

        PoolPlan plan = plan(sketch, NOW, false);
        assertThat(plan.deferred().untilAsked()).isEmpty();
        assertThat(plan.deferred().untilTurn())
                .extracting(ObservedPod::name)
                .containsExactlyInAnyOrder("demo-master-0", "demo-master-1");
        assertThat(plan.transitions().steps())
                .filteredOn(step -> step.state() == StepState.UNDER_WAY)
                .extracting(StepStatus::of)
                .containsExactly("demo-a-1");
    }

    /** Made by the earlier operator, before the user asked. */
    private static PoolSketch asked(String spec) {
        PoolSketch sketch = led(spec)
                .settings(NOW)
                .of(sketch(spec, NOW))
                .annotation(PoolLabels.restart(PoolLabels.ROLE_STORAGE), "2026-01-01T11:00:00Z");
        return sketch.after(plan(sketch, NOW, false));
    }

    private static PoolSketch sketch(String spec, OperatorSettings now) {
        return led(spec).settings(now).madeBy(PoolSketch.SETTINGS);
    }

    private static PoolSketch led(String spec) {
        return new PoolSketch(spec)
                .engine("{agents: {}}")
                .lease("demo-master-0", 1)
                .says(
                        "demo-master-0",
                        PoolSketch.leader(List.of(
                                PoolSketch.node("demo-a-0", "ready", "", 0, 0),
                                PoolSketch.node("demo-a-1", "ready", "", 0, 0))));
    }

    private static DaemonSet perNode() {
        PoolSketch sketch = new PoolSketch(PER_NODE).node("n1", Map.of("disks", "yes"));
        return sketch.plan().apply().stream()
                .filter(DaemonSet.class::isInstance)
                .map(DaemonSet.class::cast)
                .findFirst()
                .orElseThrow();
    }

    private static Map<String, PodTemplateSpec> templates(List<HasMetadata> children) {
        return children.stream()
                .filter(child -> Workloads.template(child).isPresent())
                .collect(Collectors.toMap(
                        child -> child.getMetadata().getName(),
                        child -> Workloads.template(child).orElseThrow()));
    }

    private static Map<String, String> notes(List<HasMetadata> children, String annotation) {
        return templates(children).entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey,
                        entry -> entry.getValue().getMetadata().getAnnotations().get(annotation)));
    }

    private static PoolPlan plan(PoolSketch sketch, OperatorSettings settings, boolean turn) {
        PoolObservation seen = sketch.observation();
        return new PoolPlanner(settings).plan(seen, List.of(), turn);
    }
}
