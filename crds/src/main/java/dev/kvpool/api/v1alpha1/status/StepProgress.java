// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** The last progress of emptying a storage node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record StepProgress(
        @JsonPropertyDescription("When it was seen. The time limits of spec.drain count from here.")
        @Required
        @Size(max = 32)
        String at,

        @JsonPropertyDescription("Objects that only the storage node held then. Absent while the leader does not say.")
        Long objectsLeft) {}
