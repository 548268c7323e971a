// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.status;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.kvpool.api.v1alpha1.ConditionStatus;
import dev.kvpool.operator.GeneratedDocument;
import dev.kvpool.operator.event.EventReason;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/conditions.md lists every reason of every condition and every event; {@code -Ddocs.update=true} writes it. */
class ReasonsAreDocumentedTest {
    private static final Path DOCUMENT = Path.of("docs/conditions.md");

    @Test
    void theDocumentIsCurrent() throws IOException {
        GeneratedDocument.assertCurrent(DOCUMENT, document());
    }

    private static String document() {
        StringBuilder text = new StringBuilder("""
                # Conditions and events

                Made from the enums `Reason` and `EventReason`; a test keeps it current. A reason is part of the API: it
                belongs to one condition type and one status, and is not renamed. The messages beside it are for people
                and may change. `kubectl wait --for=condition=Ready kvp/NAME` waits for a pool that is all there.
                `TransferEngine` has condition `Ready` only.

                """);
        for (ConditionType type : ConditionType.values()) {
            text.append("## ").append(type.text()).append("\n\n| status | reason | meaning |\n|---|---|---|\n");
            text.append(Stream.of(Reason.values())
                    .filter(reason -> reason.type() == type)
                    .map(reason ->
                            "| %s | `%s` | %s |\n".formatted(text(reason.status()), reason.text(), reason.meaning()))
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
