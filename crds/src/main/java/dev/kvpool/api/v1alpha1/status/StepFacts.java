// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;

/** What was there when a step began: the step is done when it differs. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record StepFacts(
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
        String specImage) {

    private static final int IMAGE_LENGTH_MAX = 512;

    public StepFacts {
        image = bounded(image);
        specImage = bounded(specImage);
    }

    private static String bounded(String text) {
        return text != null && text.length() > IMAGE_LENGTH_MAX ? text.substring(0, IMAGE_LENGTH_MAX) : text;
    }
}
