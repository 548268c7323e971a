// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.OwnContainer;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.PreflightSeen.State;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a preflight Job's pods say, and what is no answer. */
class PreflightAnswerTest {
    private static final String IMAGE = "kvpool:2";

    @Test
    void aPodThatEndedWellAnswers() {
        PreflightSeen seen = PreflightAnswer.of(
                job(""),
                List.of(pod(IMAGE, 0, "{\"verdict\":\"refused\",\"reason\":\"both sides\",\"product\":\"2\"}")),
                Optional.empty());

        assertThat(seen).isEqualTo(new PreflightSeen(IMAGE, State.ANSWERED, "refused", "both sides"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "killed",
                "null",
                "{}",
                "{\"verdict\":\"rolling-warm\"}",
                "{\"verdict\":\"of course\",\"reason\":\"why not\"}",
                "{\"verdict\":\"rolling-wa"
            })
    void anythingElseIsNoAnswer(String message) {
        assertThat(PreflightAnswer.of(job(""), List.of(pod(IMAGE, 0, message)), Optional.empty())
                        .state())
                .isEqualTo(State.RUNNING);
        assertThat(PreflightAnswer.of(job("Complete"), List.of(pod(IMAGE, 0, message)), Optional.empty())
                        .state())
                .isEqualTo(State.FAILED);
    }

    @Test
    void aPodThatFailedIsNoAnswerWhateverItSays() {
        String warm = "{\"verdict\":\"rolling-warm\",\"reason\":\"fits\"}";

        PreflightSeen seen = PreflightAnswer.of(job("Failed"), List.of(pod(IMAGE, 1, warm)), Optional.empty());

        assertThat(seen.state()).isEqualTo(State.FAILED);
        assertThat(seen.reason()).contains("ended with exit code 1", warm);
    }

    @Test
    void itSaysWhyThereIsNoPod() {
        assertThat(PreflightAnswer.of(job(""), List.of(), Optional.of("exceeded quota"))
                        .reason())
                .isEqualTo("Kubernetes cannot create its pod: exceeded quota");
    }

    @Test
    void thePodOfAnEarlierJobIsNoAnswer() {
        String warm = "{\"verdict\":\"rolling-warm\",\"reason\":\"fits\"}";

        assertThat(PreflightAnswer.of(job(""), List.of(pod("kvpool:1", 0, warm)), Optional.empty())
                        .state())
                .isEqualTo(State.RUNNING);
    }

    private static ObservedPod pod(String image, int code, String message) {
        ObservedPod pod = PoolSketch.pod("demo-preflight-x", PoolLabels.ROLE_PREFLIGHT, "", true, "");
        return PoolSketch.ended(pod, image, new PodContainer.Ended(code, message));
    }

    private static Job job(String condition) {
        var job = new JobBuilder()
                .withNewSpec()
                .withNewTemplate()
                .withNewMetadata()
                .withAnnotations(OwnContainer.note(IMAGE))
                .endMetadata()
                .withNewSpec()
                .addNewContainer()
                .withImage(IMAGE)
                .endContainer()
                .endSpec()
                .endTemplate()
                .endSpec();
        return condition.isEmpty()
                ? job.build()
                : job.withNewStatus()
                        .addNewCondition()
                        .withType(condition)
                        .withStatus("True")
                        .endCondition()
                        .endStatus()
                        .build();
    }
}
