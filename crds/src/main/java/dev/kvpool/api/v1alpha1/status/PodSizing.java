// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Quantity;

/** The memory of pods of one kind. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PodSizing(
        @JsonPropertyDescription("master, or the name of a storage set.") @Required @Size(max = NAME_LENGTH_MAX)
        String name,

        @JsonPropertyDescription("Memory limit of each of them.")
        Quantity memory,

        @JsonPropertyDescription("Huge pages of each of them. Absent without.")
        Quantity hugePages,

        @JsonPropertyDescription("What the operator reckons with, part by part.") @Size(max = SUM_LENGTH_MAX)
        String sum) {

    private static final int NAME_LENGTH_MAX = 20;
    private static final int SUM_LENGTH_MAX = 512;
}
