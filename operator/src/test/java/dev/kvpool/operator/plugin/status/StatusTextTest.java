// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.ConditionStatus;
import java.util.List;
import org.junit.jupiter.api.Test;

class StatusTextTest {
    private static final String AWAY = "demo-a-0 is away: the connection ended.";
    private static final String BEHIND = "demo-a-0 missed removals.";

    @Test
    void whatSeveralConditionsSayIsReadOnce() {
        StatusView view = new StatusView(
                new StatusView.Summary(
                        "demo", "team", "Degraded", "The pool serves what it has. " + BEHIND + " " + AWAY),
                null,
                null,
                new StatusView.Contents(null, null, null, null, null, null, null),
                List.of(),
                List.of(),
                List.of(BEHIND, "demo-a-0 could not be asked what it knows."),
                new StatusView.Changes(null, List.of()),
                List.of(
                        condition("Ready", "PartsMissing", "The pool serves what it has. " + BEHIND + " " + AWAY),
                        condition("StorageReady", "NodesNotReady", BEHIND + " " + AWAY),
                        condition("MastersReady", "NotReady", "1 of 3 masters is away.")));

        String text = StatusText.of(view);

        assertThat(text)
                .containsOnlyOnce(AWAY)
                .containsOnlyOnce(BEHIND)
                .contains(
                        "demo-a-0 could not be asked what it knows.",
                        "Ready is False (PartsMissing)\n",
                        "StorageReady is False (NodesNotReady)\n",
                        "MastersReady is False (NotReady): 1 of 3 masters is away.\n");
    }

    private static Condition condition(String type, String reason, String message) {
        return new Condition(type, ConditionStatus.FALSE, null, null, reason, message);
    }
}
