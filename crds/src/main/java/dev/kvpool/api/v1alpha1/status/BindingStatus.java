// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;

/** What servicebinding.io calls a provisioned service. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record BindingStatus(
        @JsonPropertyDescription("Name of a Secret of the namespace that says how to reach the pool.") @Size(max = 253)
        String name) {}
