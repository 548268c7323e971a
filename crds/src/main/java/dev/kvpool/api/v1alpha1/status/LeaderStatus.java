// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;

/** The leading master. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record LeaderStatus(
        @JsonPropertyDescription("Its pod.") @Size(max = 253)
        String pod,

        @JsonPropertyDescription("Number of its leadership; it only grows.")
        Long epoch) {}
