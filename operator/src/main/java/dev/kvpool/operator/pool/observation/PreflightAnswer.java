// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.operator.pool.naming.OwnContainer;
import dev.kvpool.operator.pool.observation.PreflightSeen.State;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads what the preflight Job and its pods say. Pure. */
public final class PreflightAnswer {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Set<String> VERDICTS = Set.of("rolling-warm", "rolling-drained", "refused");

    private PreflightAnswer() {}

    @JsonIgnoreProperties(ignoreUnknown = true)
    private record Document(String verdict, String reason) {}

    /**
     * How far the Job is.
     *
     * @param pods its pods
     * @param refusal why Kubernetes cannot create one
     */
    public static PreflightSeen of(Job job, List<ObservedPod> pods, Optional<String> refusal) {
        String image = image(job);
        Optional<Document> answer = pods.stream()
                .filter(pod -> pod.image().equals(image))
                .flatMap(pod -> pod.ended().stream())
                .filter(ended -> ended.code() == 0)
                .flatMap(ended -> document(ended.message()).stream())
                .findFirst();
        if (answer.isPresent()) {
            return new PreflightSeen(
                    image, State.ANSWERED, answer.get().verdict(), answer.get().reason());
        }
        return new PreflightSeen(image, hasFailed(job) ? State.FAILED : State.RUNNING, "", trouble(pods, refusal));
    }

    /** The image a Job asks for. */
    public static String image(Job job) {
        return OwnContainer.wishedImage(job.getSpec().getTemplate());
    }

    /** A pod that ended well says what it was made to say; anything else is no answer. */
    private static Optional<Document> document(String message) {
        try {
            Document document = JSON.readValue(message, Document.class);
            boolean known = document != null
                    && document.verdict() != null
                    && document.reason() != null
                    && VERDICTS.contains(document.verdict());
            return known ? Optional.of(document) : Optional.empty();
        } catch (JacksonException e) {
            return Optional.empty();
        }
    }

    private static boolean hasFailed(Job job) {
        return ObservedJob.is(job, ObservedJob.FAILED) || ObservedJob.is(job, ObservedJob.COMPLETE);
    }

    private static String trouble(List<ObservedPod> pods, Optional<String> refusal) {
        return pods.stream()
                .max(Comparator.comparing(ObservedPod::name))
                .map(pod -> pod.ended()
                        .map(ended -> "pod %s ended with exit code %d: %s"
                                .formatted(
                                        pod.name(),
                                        ended.code(),
                                        ended.message().strip()))
                        .orElseGet(() -> pod.trouble().isEmpty() ? "" : "pod " + pod.name() + " " + pod.trouble()))
                .or(() -> refusal.map(why -> "Kubernetes cannot create its pod: " + why))
                .orElse("");
    }
}
