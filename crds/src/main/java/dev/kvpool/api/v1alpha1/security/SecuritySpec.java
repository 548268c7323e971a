// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.security;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;

/** Whether the pool's processes know each other by certificates. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SecuritySpec(
        @JsonPropertyDescription(
                "Off: nothing is authenticated or encrypted. Permissive: the pool's own processes use TLS, plain peers are still"
                        + " let in and may do everything. Required: TLS only, and each peer may do what its certificate says. A change"
                        + " makes all pods again in their turn, storage pods as onDataLoss says. From Off to Required and back the"
                        + " pool passes through Permissive by itself: its next pods are Permissive until no pod is left that could not"
                        + " speak with them.")
        @Default("Required")
        SecurityMode mode) {

    public SecuritySpec {
        mode = mode == null ? SecurityMode.REQUIRED : mode;
    }
}
