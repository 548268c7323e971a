// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.kvpool.api.v1alpha1.status.ConditionStatus;
import dev.kvpool.operator.GeneratedDocument;
import dev.kvpool.operator.event.EventReason;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * docs/reference/conditions.md lists every reason of every condition, with its remedy, and every event. The remedies are in
 * {@code remedies.properties}, one for each reason that is not the normal state of its condition.
 */
class ReasonsAreDocumentedTest {
    /** Conditions whose normal state is False. */
    private static final Set<ConditionType> NORMALLY_FALSE = Set.of(
            ConditionType.PROGRESSING,
            ConditionType.UPGRADE_BLOCKED,
            ConditionType.DRAINING,
            ConditionType.TENANTS_OVERCOMMITTED);

    /** Reasons that a person can do nothing about, nor needs to. */
    private static final Set<Reason> NOTHING_TO_DO = Set.of(Reason.MAY_BE_EVICTED, Reason.EMPTYING);

    @Test
    void theDocumentIsCurrent() throws IOException {
        GeneratedDocument.assertCurrent("conditions.md", document(remedies()));
    }

    @Test
    void everyReasonThatIsNotNormalHasARemedy() throws IOException {
        Set<String> abnormal = Stream.of(Reason.values())
                .filter(reason -> reason.status() != normal(reason.type()) && !NOTHING_TO_DO.contains(reason))
                .map(Reason::text)
                .collect(Collectors.toSet());
        assertThat(remedies().stringPropertyNames()).containsAll(abnormal);
        assertThat(Stream.of(Reason.values()).map(Reason::text))
                .containsAll(remedies().stringPropertyNames());
    }

    private static ConditionStatus normal(ConditionType type) {
        return NORMALLY_FALSE.contains(type) ? ConditionStatus.FALSE : ConditionStatus.TRUE;
    }

    private static Properties remedies() throws IOException {
        Properties remedies = new Properties();
        try (InputStream text = ReasonsAreDocumentedTest.class.getResourceAsStream("/remedies.properties")) {
            remedies.load(text);
        }
        return remedies;
    }

    private static String document(Properties remedies) {
        StringBuilder text = new StringBuilder("""
                # Conditions and events

                Generated from the enums `Reason` and `EventReason`; a test fails when this page is stale. A reason is part of the API:
                it belongs to one condition type and one status, and is not renamed. Messages are for people and may change.
                `kubectl wait --for=condition=Ready kvp/NAME` waits until the spec is carried out and all of the pool is ready, also right after
                a change; `Available` says whether the pool serves ([why](../decisions/ready-means-carried-out.md)). `TransferEngine` has
                condition `Ready` only.
                The remedy is empty where nothing needs to be done. For alerts see the [runbook](../guide/runbook.md).

                """);
        for (ConditionType type : ConditionType.values()) {
            text.append("## ")
                    .append(type.text())
                    .append("\n\n| status | reason | meaning | remedy |\n|---|---|---|---|\n");
            text.append(Stream.of(Reason.values())
                    .filter(reason -> reason.type() == type)
                    .map(reason -> "| %s | `%s` | %s | %s |\n"
                            .formatted(
                                    text(reason.status()),
                                    reason.text(),
                                    reason.meaning(),
                                    remedies.getProperty(reason.text(), "")))
                    .collect(Collectors.joining()));
            text.append("\n");
        }
        text.append("## Events\n\n| type | reason | meaning |\n|---|---|---|\n");
        for (EventReason reason : EventReason.values()) {
            text.append("| %s | `%s` | %s |\n".formatted(reason.type(), reason.text(), reason.meaning()));
        }
        return text.toString();
    }

    private static String text(ConditionStatus status) {
        try {
            return ConditionStatus.class
                    .getField(status.name())
                    .getAnnotation(JsonProperty.class)
                    .value();
        } catch (NoSuchFieldException e) {
            throw new AssertionError(e);
        }
    }
}
