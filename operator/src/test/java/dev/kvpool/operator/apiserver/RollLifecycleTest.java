// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.Condition;
import dev.kvpool.api.v1alpha1.ConditionStatus;
import dev.kvpool.api.v1alpha1.RollPhase;
import dev.kvpool.api.v1alpha1.RollStatus;
import dev.kvpool.api.v1alpha1.RollStepKind;
import dev.kvpool.api.v1alpha1.RollStepStatus;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.report.PollInterval;
import dev.kvpool.operator.status.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Upgrades on a real API server, with scripted masters and kubelets. */
class RollLifecycleTest {
    private static final String NAMESPACE = "rolls";
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final String STORAGE = "storage: [{name: default, capacity: 1Gi, replicas: 2}]";

    private static OperatorUnderTest operator;

    @BeforeAll
    static void start() {
        operator = new OperatorUnderTest(NAMESPACE, new PollInterval(Duration.ofMillis(500), Duration.ofMillis(200)));
    }

    @AfterAll
    static void stop() {
        operator.close();
    }

    @Test
    void anUpgradeGoesOnThroughAnOperatorThatDiesAtEachOfItsSteps() {
        UpgradedPool pool = ready("whole");
        operator.applyPool("whole", "{version: 0.2.0, " + STORAGE + "}");

        List<RollStatus> seen = new ArrayList<>();
        pool.play(() -> {
            RollStatus now = operator.pool("whole").getStatus().roll();
            boolean changed = now != null && seen.stream().noneMatch(known -> Objects.equals(known, now));
            if (changed) {
                seen.add(now);
                operator.restart();
            }
            return now == null && !seen.isEmpty();
        });

        assertThat(pool.startedAnew())
                .containsExactly(
                        "whole-master-1 kvpool:0.2.0",
                        "whole-master-0 kvpool:0.2.0",
                        "whole-default-1 kvpool:0.2.0",
                        "whole-default-0 kvpool:0.2.0");
        assertThat(seen)
                .extracting(RollStatus::phase)
                .contains(RollPhase.PREFLIGHT, RollPhase.ROLLING, RollPhase.FINALISING);
        assertThat(seen)
                .as("states in which the operator was restarted")
                .flatExtracting(RollStatus::steps)
                .filteredOn(step -> step.kind() == RollStepKind.RESTART)
                .extracting(RollStepStatus::pod)
                .contains("whole-master-1", "whole-master-0", "whole-default-1", "whole-default-0");
        assertThat(operator.pool("whole").getStatus().version().lastStable()).isEqualTo("kvpool:0.2.0");
        assertThat(templateImage("whole-master")).isEqualTo("kvpool:0.2.0");
        assertThat(templateImage("whole-default")).isEqualTo("kvpool:0.2.0");
        awaitReason("whole", Reason.NO_UPGRADE);
        assertThat(operator.client()
                        .batch()
                        .v1()
                        .jobs()
                        .inNamespace(NAMESPACE)
                        .withName("whole-preflight")
                        .get())
                .isNull();
    }

    /** As where images are pinned to digests of a mirror, and a mesh puts its proxy before all other containers. */
    @Test
    void anUpgradeEndsWhereAdmissionRewritesImagesAndPutsASidecarFirst() {
        UpgradedPool pool = UpgradedPool.ready(
                operator,
                NAMESPACE,
                "mirrored",
                "{" + STORAGE + "}",
                2,
                image -> image.replaceFirst("^kvpool:(.*)$", "mirror/kvpool@sha256:$1"));
        operator.applyPool("mirrored", "{version: 0.2.0, " + STORAGE + "}");

        pool.play(() -> "kvpool:0.2.0"
                .equals(operator.pool("mirrored").getStatus().version().lastStable()));
        awaitReason("mirrored", Reason.NO_UPGRADE);
        operator.applyPool("mirrored", "{version: 0.1.0, " + STORAGE + "}");
        pool.play(() -> "kvpool:0.1.0"
                .equals(operator.pool("mirrored").getStatus().version().lastStable()));

        assertThat(pool.startedAnew())
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
        UpgradedPool pool = ready("refused").preflightAnswers("refused");
        operator.applyPool("refused", "{version: 0.3.0, " + STORAGE + "}");

        pool.play(() -> reason("refused").equals(Optional.of(Reason.VERSION_REFUSED.text())));

        Condition blocked = condition("refused").orElseThrow();
        assertThat(blocked.status()).isEqualTo(ConditionStatus.TRUE);
        assertThat(blocked.message())
                .contains("kvpool:0.1.0", "kvpool:0.3.0", "both sides, and the way out", "Set spec.version");
        assertThat(pool.startedAnew()).isEmpty();
        assertThat(templateImage("refused-master")).isEqualTo("kvpool:0.1.0");
        assertThat(templateImage("refused-default")).isEqualTo("kvpool:0.1.0");

        operator.applyPool("refused", "{version: 0.1.0, " + STORAGE + "}");
        pool.play(() -> operator.pool("refused").getStatus().roll() == null);
        assertThat(pool.startedAnew()).isEmpty();
    }

    @Test
    void anUpgradeThatDoesNotComeUpGoesBack() {
        UpgradedPool pool = ready("failed").neverReady("kvpool:0.4.0");
        operator.applyPool("failed", "{version: 0.4.0, upgrade: {stepTimeout: 10s}, " + STORAGE + "}");

        pool.play(() -> reason("failed").equals(Optional.of(Reason.UPGRADE_FAILED.text())));

        assertThat(pool.startedAnew()).containsExactly("failed-master-1 kvpool:0.4.0", "failed-master-1 kvpool:0.1.0");
        assertThat(pool.images()).containsExactly("kvpool:0.1.0");
        assertThat(condition("failed").orElseThrow().message())
                .contains("failed-master-1 did not get ready within 10s");
        assertThat(operator.pool("failed").getStatus().version().lastStable()).isEqualTo("kvpool:0.1.0");
    }

    @Test
    void aNewerOperatorUpgradesNoPoolThatDidNotAskForIt() {
        UpgradedPool pool = ready("kept");
        operator.restart(new OperatorSettings("kvpool:0.2.0", "0.2.0", "kvpool-system"));
        try {
            pool.play(() -> condition("kept").orElseThrow().message().contains("set spec.version to go over"));
            assertThat(reason("kept")).contains(Reason.NO_UPGRADE.text());
            assertThat(pool.startedAnew()).isEmpty();
            assertThat(templateImage("kept-master")).isEqualTo("kvpool:0.1.0");
            assertThat(templateImage("kept-default")).isEqualTo("kvpool:0.1.0");

            operator.applyPool("kept", "{version: 0.2.0, " + STORAGE + "}");
            pool.play(() -> templateImage("kept-master").equals("kvpool:0.2.0"));
            assertThat(pool.images()).containsExactly("kvpool:0.2.0");
        } finally {
            operator.restart(OperatorUnderTest.SETTINGS);
        }
    }

    private static UpgradedPool ready(String name) {
        return UpgradedPool.ready(operator, NAMESPACE, name, "{" + STORAGE + "}", 2);
    }

    private static void awaitReason(String pool, Reason reason) {
        await().atMost(LIMIT).until(() -> reason(pool).equals(Optional.of(reason.text())));
    }

    private static Optional<String> reason(String pool) {
        return condition(pool).map(Condition::reason);
    }

    private static Optional<Condition> condition(String pool) {
        return operator.pool(pool).getStatus().conditions().stream()
                .filter(condition -> condition.type().equals("UpgradeBlocked"))
                .findFirst();
    }

    private static String templateImage(String statefulSet) {
        return operator.client()
                .apps()
                .statefulSets()
                .inNamespace(NAMESPACE)
                .withName(statefulSet)
                .get()
                .getSpec()
                .getTemplate()
                .getSpec()
                .getContainers()
                .getFirst()
                .getImage();
    }
}
