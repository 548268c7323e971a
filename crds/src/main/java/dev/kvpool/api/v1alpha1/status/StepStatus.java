// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Objects;

/**
 * Something that is done to a master or storage node, or waits: all the operator knows of it, so that another one can go on.
 *
 * @param before what was there when it began; not for people, so that it stands in {@code status.stepFacts}
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record StepStatus(
        @JsonPropertyDescription("The master's pod, or the storage node's id.")
        @Required
        @Size(max = StorageSetSpec.NODE_ID_LENGTH_MAX)
        String of,

        @JsonPropertyDescription("What is done.") @Required @NullWhenUnknown
        StepKind kind,

        @JsonPropertyDescription("Why.") @Required @NullWhenUnknown
        StepCause because,

        @JsonPropertyDescription("How far it is.") @Required @NullWhenUnknown
        StepState state,

        @JsonPropertyDescription("When it began, or began to wait.") @Required @Size(max = 32)
        String since,

        @JsonPropertyDescription("What it waits for, or why something is left.") @Size(max = REASON_LENGTH_MAX)
        String waitsFor,

        @JsonPropertyDescription("Objects that only the storage node holds, rounded to two digits.")
        Long objectsLeft,

        @JsonPropertyDescription("Their bytes, rounded.") Quantity bytesLeft,

        @JsonPropertyDescription("The last progress of emptying. Absent before there was any.")
        StepProgress progress,

        @JsonPropertyDescription(
                "The Kubernetes node that it is emptied for, which is cordoned or shall hold nothing of it. Absent where the cause is another one.")
        @Size(max = 253)
        String machine,

        @JsonIgnore StepFacts before) {

    /** Steps under way at a time; further ones wait. */
    public static final int UNDER_WAY_MAX = 64;

    /** Those that wait are listed up to this number of all. */
    public static final int STEPS_MAX = 80;

    private static final int REASON_LENGTH_MAX = 512;

    /** One that begins now. */
    public StepStatus(String of, StepKind kind, StepCause because, StepState state, String since) {
        this(of, kind, because, state, since, null, null, null, null, null, null);
    }

    public StepStatus {
        waitsFor = waitsFor != null && waitsFor.length() > REASON_LENGTH_MAX
                ? waitsFor.substring(0, REASON_LENGTH_MAX)
                : waitsFor;
    }

    /**
     * Whether this version knows such steps. One of a newer version is left out: what it stopped is seen to be away, and what is still to
     * be done is planned again.
     */
    private static boolean isKnown(StepStatus step) {
        return step.of != null && step.kind != null && step.because != null && step.state != null;
    }

    /** Those of a status that this version knows, each with its facts. */
    public static List<StepStatus> known(List<StepStatus> steps, List<StepFacts> facts) {
        return steps == null
                ? List.of()
                : steps.stream()
                        .filter(StepStatus::isKnown)
                        .map(step -> step.among(facts))
                        .toList();
    }

    private StepStatus among(List<StepFacts> facts) {
        return before != null || facts == null
                ? this
                : facts.stream()
                        .filter(it -> Objects.equals(of, it.of()) && because == it.because())
                        .findFirst()
                        .map(this::with)
                        .orElse(this);
    }

    public StepStatus in(StepState other, String why) {
        return new StepStatus(of, kind, because, other, since, why, objectsLeft, bytesLeft, progress, machine, before);
    }

    public StepStatus left(Long objects, Quantity bytes) {
        return new StepStatus(of, kind, because, state, since, waitsFor, objects, bytes, progress, machine, before);
    }

    public StepStatus with(StepProgress other) {
        return new StepStatus(
                of, kind, because, state, since, waitsFor, objectsLeft, bytesLeft, other, machine, before);
    }

    public StepStatus with(StepFacts other) {
        return new StepStatus(
                of, kind, because, state, since, waitsFor, objectsLeft, bytesLeft, progress, machine, other);
    }

    public StepStatus on(String cordoned) {
        return new StepStatus(
                of, kind, because, state, since, waitsFor, objectsLeft, bytesLeft, progress, cordoned, before);
    }

    /** The same, begun, or waiting, since that time. */
    public StepStatus begun(String at) {
        return new StepStatus(
                of, kind, because, state, at, waitsFor, objectsLeft, bytesLeft, progress, machine, before);
    }

    /** The same, with nothing to compare. */
    public StepStatus withoutFacts() {
        return with((StepFacts) null);
    }

    /** One about which a leader is told, told to that of this epoch at that time. Others have facts about a pod, which this would lose. */
    public StepStatus told(long byEpoch, String at) {
        if (kind != StepKind.HAND_OVER && kind != StepKind.TAKE_BACK) {
            throw new IllegalStateException("a step " + kind + " has no epoch of a leader");
        }
        return with(new StepFacts(of, because, null, null, null, null, null, null, byEpoch))
                .begun(at);
    }

    /** Epoch of the leader that was told of it; null when none was. */
    public Long epoch() {
        return before == null ? null : before.epoch();
    }
}
