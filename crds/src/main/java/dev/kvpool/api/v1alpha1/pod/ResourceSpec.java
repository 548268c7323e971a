// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.pod;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Map;

/** Compute resources of a container, by resource name (cpu, memory). Given names replace the defaults one by one. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record ResourceSpec(
        @JsonPropertyDescription("What is reserved for the container.")
        Map<String, Quantity> requests,

        @JsonPropertyDescription("What the container may use at most.")
        Map<String, Quantity> limits) {

    public static final ResourceSpec EMPTY = new ResourceSpec(null, null);

    public ResourceSpec {
        requests = requests == null ? Map.of() : Map.copyOf(requests);
        limits = limits == null ? Map.of() : Map.copyOf(limits);
    }
}
