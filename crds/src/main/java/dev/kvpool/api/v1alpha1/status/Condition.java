// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** One observation about a resource, in the form all Kubernetes resources use. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Condition(
        @JsonPropertyDescription("What is observed.")
        @Required
        @Pattern("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
        @Size(min = 1, max = 316)
        String type,

        @JsonPropertyDescription("Whether it holds.") @Required @NullWhenUnknown
        ConditionStatus status,

        @JsonPropertyDescription("Generation of the spec this was observed at.") @Min(0)
        Long observedGeneration,

        @JsonPropertyDescription("When the status last changed.") @Required
        String lastTransitionTime,

        @JsonPropertyDescription("Why, as one word for programs.")
        @Required
        @Pattern("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
        @Size(min = 1, max = 1024)
        String reason,

        @JsonPropertyDescription("Why, and what happens next, for people.") @Required @Size(max = MESSAGE_LENGTH_MAX)
        String message) {

    public static final int MESSAGE_LENGTH_MAX = 32768;

    /** Whether this version knows what it says; one of a newer version may say something else. */
    public static boolean isKnown(Condition condition) {
        return condition.status() != null;
    }
}
