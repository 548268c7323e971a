// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.ConditionStatus;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConditionsTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00.9Z");
    private static final Instant LATER = Instant.parse("2026-01-01T13:00:00Z");

    @Test
    void aFindingBecomesACondition() {
        var conditions = Conditions.merge(List.of(), List.of(new Finding(Reason.NO_LEADER, "Nobody.")), 3, NOON);

        assertThat(conditions)
                .containsExactly(new Condition(
                        "LeaderElected", ConditionStatus.FALSE, 3L, "2026-01-01T12:00:00Z", "NoLeader", "Nobody."));
    }

    @Test
    void theTimeStaysWhileTheStatusDoes() {
        var old = Conditions.merge(List.of(), List.of(new Finding(Reason.SERVING, "Two.")), 1, NOON);

        var now = Conditions.merge(old, List.of(new Finding(Reason.SERVING_WITHOUT_STANDBY, "One.")), 2, LATER);

        assertThat(now)
                .containsExactly(new Condition(
                        "Available",
                        ConditionStatus.TRUE,
                        2L,
                        "2026-01-01T12:00:00Z",
                        "ServingWithoutStandby",
                        "One."));
    }

    @Test
    void theTimeChangesWithTheStatus() {
        var old = Conditions.merge(List.of(), List.of(new Finding(Reason.SERVING, "Two.")), 1, NOON);

        var now = Conditions.merge(old, List.of(new Finding(Reason.NOT_SERVING, "None.")), 1, LATER);

        assertThat(now)
                .singleElement()
                .extracting(Condition::lastTransitionTime)
                .isEqualTo("2026-01-01T13:00:00Z");
    }

    @Test
    void aLongMessageIsCut() {
        String endless = "x".repeat(Condition.MESSAGE_LENGTH_MAX + 1);

        var conditions = Conditions.merge(List.of(), List.of(new Finding(Reason.SERVING, endless)), 1, NOON);

        assertThat(conditions.getFirst().message())
                .hasSizeBetween(Finding.MESSAGE_CHARS_MAX, Condition.MESSAGE_LENGTH_MAX)
                .endsWith("x ...");
    }
}
