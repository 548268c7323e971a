// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepFacts;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import java.util.List;
import org.junit.jupiter.api.Test;

/** People read {@code status.steps}; what the operator compares stands beside it, and is there as long as its step. */
class StepFactsTest {
    private static final String SINCE = "2026-01-01T12:00:00Z";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private static final StepStatus RESTART = step(StepKind.RESTART, StepCause.UPGRADE, StepState.UNDER_WAY)
            .with(new StepFacts("demo-a-0", StepCause.UPGRADE, "uid", 2, "a1", 7L, "sha256:1", "image:1", null));
    private static final StepStatus HAND_OVER = new StepStatus(
                    "demo-master-0", StepKind.HAND_OVER, StepCause.UPGRADE, StepState.UNDER_WAY, SINCE)
            .told(5, SINCE);

    /** It is about the same storage node as another step. */
    private static final StepStatus WAITING = step(StepKind.EMPTY, StepCause.CORDON, StepState.WAITING);

    @Test
    void stepsHaveWhatPeopleReadAndFactsAreWrittenBesideThem() {
        JsonNode written = MAPPER.valueToTree(status(RESTART, HAND_OVER, WAITING));

        assertThat(written.get("steps")).hasSize(3);
        assertThat(written.get("steps").get(0).fieldNames())
                .toIterable()
                .containsExactly("of", "kind", "because", "state", "since");
        assertThat(written.get("stepFacts")).hasSize(2);
        assertThat(written.get("stepFacts").get(0).get("uid").textValue()).isEqualTo("uid");
        assertThat(written.get("stepFacts").get(1))
                .hasToString("{\"of\":\"demo-master-0\",\"because\":\"Upgrade\",\"epoch\":5}");
    }

    @Test
    void anotherOperatorReadsEachStepWithItsFacts() throws JsonProcessingException {
        KvCachePoolStatus status = status(RESTART, HAND_OVER, WAITING);

        assertThat(read(MAPPER.valueToTree(status))).isEqualTo(status);
    }

    @Test
    void factsGoWithTheirStep() throws JsonProcessingException {
        ObjectNode written = MAPPER.valueToTree(status(RESTART));
        written.remove("steps");

        assertThat(read(written).stepFacts()).isEmpty();
    }

    @Test
    void factsOfAnotherCauseAreNotTheSteps() throws JsonProcessingException {
        ObjectNode written = MAPPER.valueToTree(status(RESTART));
        ((ObjectNode) written.get("stepFacts").get(0)).put("because", "OfANewerVersion");

        assertThat(read(written).steps())
                .singleElement()
                .extracting(StepStatus::before)
                .isNull();
    }

    /** The API server lets an edited status through that an earlier CRD had accepted. */
    @Test
    void aStepOfNothingIsLeftOut() throws JsonProcessingException {
        ObjectNode written = MAPPER.valueToTree(status(RESTART, HAND_OVER));
        ((ObjectNode) written.get("steps").get(0)).remove("of");
        ((ObjectNode) written.get("stepFacts").get(1)).remove("of");

        assertThat(read(written).steps()).singleElement().satisfies(step -> {
            assertThat(step.kind()).isEqualTo(StepKind.HAND_OVER);
            assertThat(step.before()).isNull();
        });
    }

    @Test
    void factsAboutAPodDoNotGetLostByWhatIsToldToALeader() {
        assertThatThrownBy(() -> RESTART.told(5, SINCE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("RESTART");
        assertThat(RESTART.begun("later").before()).isEqualTo(RESTART.before());
        assertThat(RESTART.withoutFacts().before()).isNull();
    }

    private static StepStatus step(StepKind kind, StepCause because, StepState state) {
        return new StepStatus("demo-a-0", kind, because, state, SINCE);
    }

    private static KvCachePoolStatus status(StepStatus... steps) {
        return new KvCachePoolStatus(
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
                List.of(steps),
                null,
                null,
                null,
                null,
                null,
                null);
    }

    private static KvCachePoolStatus read(JsonNode status) throws JsonProcessingException {
        return MAPPER.treeToValue(status, KvCachePoolStatus.class);
    }
}
