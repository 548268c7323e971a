// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** The last progress of a drain that was seen. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record DrainProgress(
        @JsonPropertyDescription("When it was seen.") @Required @Size(max = 32)
        String at,

        @JsonPropertyDescription("Objects that only the storage node held then. Absent while nobody can tell.")
        Long objectsLeft) {}
