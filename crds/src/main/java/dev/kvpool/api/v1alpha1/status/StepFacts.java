// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** What was there when a step began: the step is done when it differs. Its step has the same {@code of} and {@code because}. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record StepFacts(
        @JsonPropertyDescription("The step's master or storage node.")
        @Required
        @Size(max = StorageSetSpec.NODE_ID_LENGTH_MAX)
        String of,

        @JsonPropertyDescription("The step's cause.") @Required @NullWhenUnknown
        StepCause because,

        @JsonPropertyDescription("UID of the pod.") @Size(max = 64)
        String uid,

        @JsonPropertyDescription("How often its container had been restarted.")
        Integer restarts,

        @JsonPropertyDescription("The storage node's process.") @Size(max = 16)
        String incarnation,

        @JsonPropertyDescription("Objects on the storage node.")
        Long objects,

        @JsonPropertyDescription("What its container ran, as the kubelet names it. Empty when nothing had run there.")
        @Size(max = 512)
        String image,

        @JsonPropertyDescription("What its container was asked to run, as admission had written it.") @Size(max = 512)
        String specImage,

        @JsonPropertyDescription(
                "Epoch of the leader that hands over, or was told that the storage node takes part again.")
        Long epoch) {

    private static final int IMAGE_LENGTH_MAX = 512;

    public StepFacts {
        image = bounded(image);
        specImage = bounded(specImage);
    }

    /** The same, of a step for another cause. */
    public StepFacts as(StepCause other) {
        return new StepFacts(of, other, uid, restarts, incarnation, objects, image, specImage, epoch);
    }

    private static String bounded(String text) {
        return text != null && text.length() > IMAGE_LENGTH_MAX ? text.substring(0, IMAGE_LENGTH_MAX) : text;
    }
}
