// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.ConditionStatus;
import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Upgrades on a real API server, with scripted masters and kubelets. */
class RollLifecycleTest {
    private static final String STORAGE = "storage: [{name: default, capacity: 1Gi, replicas: 2}]";

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in("rolls");

    @Test
    void anUpgradeGoesOnThroughAnOperatorThatDiesAtEachOfItsSteps() {
        PoolUnderTest pool = ready("whole");
        List<State> seen;
        try (OperatorDeaths<State> deaths = new OperatorDeaths<>(OPERATOR, pool, State::of)) {
            pool.apply("{version: 0.2.0, " + STORAGE + "}");
            deaths.play(() -> pool.status().roll() == null
                    && deaths.seen().stream().anyMatch(state -> state.roll().isPresent()));
            seen = deaths.seen();
        }

        assertThat(pool.restarted())
                .containsExactly(
                        "whole-master-1 kvpool:0.2.0",
                        "whole-master-0 kvpool:0.2.0",
                        "whole-default-1 kvpool:0.2.0",
                        "whole-default-0 kvpool:0.2.0");
        assertThat(seen)
                .as("states in which the operator died")
                .flatMap(state -> state.roll().map(RollStatus::phase).stream().toList())
                .contains(RollPhase.PREFLIGHT, RollPhase.ROLLING, RollPhase.FINALISING);
        assertThat(seen)
                .as("states in which the operator died")
                .extracting(State::restarts)
                .contains(
                        List.of("whole-master-1"),
                        List.of("whole-master-0"),
                        List.of("whole-default-1"),
                        List.of("whole-default-0"));
        assertThat(pool.status().version().lastStable()).isEqualTo("kvpool:0.2.0");
        assertThat(templateImages(pool)).containsOnly("kvpool:0.2.0");
        pool.awaitReason(Reason.NO_UPGRADE);
        assertThat(pool.child(Job.class, "preflight")).isNull();
    }

    /**
     * Of an upgrade.
     *
     * @param restarts pods that are restarted now
     */
    private record State(Optional<RollStatus> roll, List<String> restarts) {
        static Stream<State> of(KvCachePoolStatus status) {
            return Stream.of(new State(
                    Optional.ofNullable(status.roll()),
                    status.steps().stream()
                            .filter(step -> step.kind() == StepKind.RESTART && step.state() == StepState.UNDER_WAY)
                            .map(StepStatus::of)
                            .toList()));
        }
    }

    /** As where images are pinned to digests of a mirror, and a mesh puts its proxy before all other containers. */
    @Test
    void anUpgradeEndsWhereAdmissionRewritesImagesAndPutsASidecarFirst() {
        PoolUnderTest pool = OPERATOR.make("mirrored", "{" + STORAGE + "}")
                .admitted(image -> image.replaceFirst("^kvpool:(.*)$", "mirror/kvpool@sha256:$1"))
                .ready();
        pool.apply("{version: 0.2.0, " + STORAGE + "}");

        pool.play(() -> "kvpool:0.2.0".equals(pool.status().version().lastStable()));
        pool.awaitReason(Reason.NO_UPGRADE);
        pool.apply("{version: 0.1.0, " + STORAGE + "}");
        pool.play(() -> "kvpool:0.1.0".equals(pool.status().version().lastStable()));

        assertThat(pool.restarted())
                .containsExactly(
                        "mirrored-master-1 mirror/kvpool@sha256:0.2.0",
                        "mirrored-master-0 mirror/kvpool@sha256:0.2.0",
                        "mirrored-default-1 mirror/kvpool@sha256:0.2.0",
                        "mirrored-default-0 mirror/kvpool@sha256:0.2.0",
                        "mirrored-master-0 mirror/kvpool@sha256:0.1.0",
                        "mirrored-master-1 mirror/kvpool@sha256:0.1.0",
                        "mirrored-default-1 mirror/kvpool@sha256:0.1.0",
                        "mirrored-default-0 mirror/kvpool@sha256:0.1.0");
    }

    @Test
    void aRefusedUpgradeTouchesNothingAndNamesBothSides() {
        PoolUnderTest pool = ready("refused").preflightAnswers("refused");
        pool.apply("{version: 0.3.0, " + STORAGE + "}");

        pool.play(() -> pool.has(Reason.VERSION_REFUSED));

        assertThat(pool.condition(ConditionType.UPGRADE_BLOCKED))
                .map(Condition::status)
                .contains(ConditionStatus.TRUE);
        assertThat(pool.message(ConditionType.UPGRADE_BLOCKED))
                .contains("kvpool:0.1.0", "kvpool:0.3.0", "both sides, and how to fix it", "Set spec.version");
        assertThat(pool.restarted()).isEmpty();
        assertThat(templateImages(pool)).containsOnly("kvpool:0.1.0");

        pool.apply("{version: 0.1.0, " + STORAGE + "}");
        pool.play(() -> pool.status().roll() == null);
        assertThat(pool.restarted()).isEmpty();
    }

    @Test
    void anUpgradeThatDoesNotComeUpGoesBack() {
        PoolUnderTest pool = ready("failed").neverReady("kvpool:0.4.0");
        pool.apply("{version: 0.4.0, upgrade: {stepTimeout: 10s}, " + STORAGE + "}");

        pool.play(() -> pool.has(Reason.UPGRADE_FAILED));

        assertThat(pool.restarted()).containsExactly("failed-master-1 kvpool:0.4.0", "failed-master-1 kvpool:0.1.0");
        assertThat(pool.images()).containsExactly("kvpool:0.1.0");
        assertThat(pool.message(ConditionType.UPGRADE_BLOCKED))
                .contains("failed-master-1 did not get ready within 10s");
        assertThat(pool.status().version().lastStable()).isEqualTo("kvpool:0.1.0");

        pool.neverReady("none").annotate(PoolLabels.RETRY, "again");
        pool.play(() -> "kvpool:0.4.0".equals(pool.status().version().lastStable()));
        assertThat(pool.images()).containsExactly("kvpool:0.4.0");
    }

    @Test
    void aNewerOperatorUpgradesNoPoolThatDidNotAskForIt() {
        PoolUnderTest pool = ready("kept");
        OPERATOR.restart(new OperatorSettings("kvpool:0.2.0", "0.2.0", "kvpool-system"));
        try {
            pool.play(() -> pool.message(ConditionType.UPGRADE_BLOCKED).contains("set spec.version to upgrade"));
            assertThat(pool.has(Reason.NO_UPGRADE)).isTrue();
            assertThat(pool.restarted()).isEmpty();
            assertThat(templateImages(pool)).containsOnly("kvpool:0.1.0");

            pool.apply("{version: 0.2.0, " + STORAGE + "}");
            pool.play(() -> templateImages(pool).getFirst().equals("kvpool:0.2.0"));
            assertThat(pool.images()).containsExactly("kvpool:0.2.0");
        } finally {
            OPERATOR.restart(OperatorUnderTest.SETTINGS);
        }
    }

    private static PoolUnderTest ready(String name) {
        return OPERATOR.make(name, "{" + STORAGE + "}").ready();
    }

    /** Of masters and storage. */
    private static List<String> templateImages(PoolUnderTest pool) {
        return Stream.of(pool.masters(), pool.set("default"))
                .map(set -> PoolUnderTest.container(set).getImage())
                .toList();
    }
}
