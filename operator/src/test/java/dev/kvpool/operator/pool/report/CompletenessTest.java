// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepFacts;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.validate.PoolValidator;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What those are told who have changed a spec and wait. */
class CompletenessTest {
    private static final String SPEC = "{storage: [{name: a, capacity: 1Gi, replicas: 2}]}";
    private static final Outcome NOTHING_CHANGED = new Outcome(List.of(), List.of());

    @Test
    void aWholePoolOfWhichNothingChangesIsReady() {
        assertThat(reasons(whole("ready"), NOTHING_CHANGED))
                .containsExactly(Reason.COMPLETE, Reason.SERVING, Reason.UP_TO_DATE);
    }

    /** Its pods are of the earlier template, and the cache shows that template still. */
    @Test
    void aPoolOfWhichAStatefulSetHasJustBeenChangedIsNotReady() {
        assertThat(reasons(whole("ready"), new Outcome(List.of("StatefulSet demo-master"), List.of())))
                .containsExactly(Reason.NOT_CARRIED_OUT, Reason.SERVING, Reason.CARRYING_OUT);
    }

    @Test
    void aLabelOfAPodIsNoChange() {
        assertThat(reasons(whole("ready"), new Outcome(List.of("Pod demo-master-0"), List.of())))
                .contains(Reason.COMPLETE);
    }

    @Test
    void aPoolIsNotReadyBeforeTheLastPodRunsWithThePresentSettings() {
        PoolSketch sketch =
                whole("ready").pod(PoolSketch.pod("demo-a-1", PoolLabels.ROLE_STORAGE, "a", false, "earlier"));

        List<Finding> findings = findings(sketch, NOTHING_CHANGED);

        assertThat(findings.getFirst().reason()).isEqualTo(Reason.NOT_CARRIED_OUT);
        assertThat(findings.get(2).message()).contains("demo-a-1").doesNotContain("demo-a-0");
    }

    /** Nothing went on, and it was said for good that something did. */
    @Test
    void settingsWithWhichAPodDoesNotGetReadyWaitForAUser() {
        StepStatus step = new StepStatus(
                        "demo-master-1",
                        StepKind.REPLACE,
                        StepCause.SETTINGS,
                        StepState.FAILED,
                        PoolSketch.NOON.minusSeconds(3600).toString())
                .with(new StepFacts(
                        "demo-master-1", StepCause.SETTINGS, "uid-before", 0, null, null, null, null, null));
        PoolSketch sketch = whole("ready").status(PoolSketch.statusWith(List.of(step)));
        sketch.pod(PoolSketch.notReady(PoolSketch.pod("demo-master-1", PoolLabels.ROLE_MASTER, "", true, "new")));

        Finding progressing = findings(sketch, NOTHING_CHANGED).get(2);

        assertThat(progressing.reason()).isEqualTo(Reason.HELD);
        assertThat(progressing.message())
                .startsWith("Changed settings do not work: demo-master-1 did not get ready within 10m (")
                .endsWith("). Correct the spec, or delete the pod where the reason lies elsewhere.");
    }

    /** No pod says it, as there is none. */
    @Test
    void podsThatKubernetesCannotCreateAreToldWithTheCause() {
        PoolSketch sketch = whole("away").status(hasBeenReady()).refused("StatefulSet demo-a", "exceeded quota: team");

        List<Finding> findings = findings(sketch, NOTHING_CHANGED);

        String said = "Kubernetes cannot create pods of StatefulSet demo-a: exceeded quota: team.";
        assertThat(findings.get(1).reason()).isEqualTo(Reason.STORAGE_INCOMPLETE);
        assertThat(findings.get(1).message()).contains(said);
        assertThat(findings.get(2)).isEqualTo(new Finding(Reason.CARRYING_OUT, said));
    }

    @Test
    void aPoolWithMoreMastersThanItsSpecWantsIsNotReady() {
        PoolSketch sketch = new PoolSketch("{masters: {replicas: 1}, " + SPEC.substring(1))
                .set("a", 2)
                .masters(2, 1, report("ready"));

        assertThat(reasons(sketch, NOTHING_CHANGED)).startsWith(Reason.NOT_CARRIED_OUT);
    }

    @Test
    void aPausedPoolIsReadyWhenItServes() {
        PoolSketch sketch = new PoolSketch("{paused: true, " + SPEC.substring(1))
                .set("a", 2)
                .masters(2, 1, report("ready"));

        assertThat(reasons(sketch, NOTHING_CHANGED)).containsExactly(Reason.COMPLETE, Reason.SERVING, Reason.HELD);
    }

    @Test
    void aPoolThatServesWithoutOneOfItsStorageNodesIsAvailableAndNotReady() {
        assertThat(reasons(whole("away").status(hasBeenReady()), NOTHING_CHANGED))
                .containsExactly(Reason.PARTS_MISSING, Reason.STORAGE_INCOMPLETE, Reason.UP_TO_DATE);
    }

    @Test
    void aPoolWithoutAnyStorageNodeIsNotAvailable() {
        PoolReport none = PoolSketch.leader(
                List.of(PoolSketch.node("demo-a-0", "away", "", 0, 0), PoolSketch.node("demo-a-1", "away", "", 0, 0)));
        PoolSketch sketch = new PoolSketch(SPEC).set("a", 2).masters(2, 1, none).status(hasBeenReady());

        assertThat(reasons(sketch, NOTHING_CHANGED)).startsWith(Reason.PARTS_MISSING, Reason.NOT_SERVING);
    }

    private static KvCachePoolStatus hasBeenReady() {
        return new KvCachePoolStatus(
                1L,
                PoolPhase.READY,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null);
    }

    private static PoolSketch whole(String second) {
        return new PoolSketch(SPEC).set("a", 2).masters(2, 1, report(second));
    }

    private static PoolReport report(String second) {
        return PoolSketch.leader(
                List.of(PoolSketch.node("demo-a-0", "ready", "", 0, 0), PoolSketch.node("demo-a-1", second, "", 0, 0)));
    }

    /** Of Ready, Available and Progressing. */
    private static List<Reason> reasons(PoolSketch sketch, Outcome outcome) {
        return findings(sketch, outcome).stream().map(Finding::reason).toList();
    }

    private static List<Finding> findings(PoolSketch sketch, Outcome outcome) {
        PoolObservation seen = sketch.observation();
        List<Finding> all = new PoolFindings(seen, sketch.plan(), PoolSketch.SETTINGS)
                .all(PoolValidator.validate(seen, PoolSketch.SETTINGS), outcome);
        assertThat(all.subList(0, 3))
                .extracting(finding -> finding.reason().type())
                .containsExactly(ConditionType.READY, ConditionType.AVAILABLE, ConditionType.PROGRESSING);
        return all.subList(0, 3);
    }
}
