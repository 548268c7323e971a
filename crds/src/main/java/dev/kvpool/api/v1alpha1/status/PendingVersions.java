// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** Higher versions that a pool is about to change to, because all connected processes know them. */
public record PendingVersions(
        @JsonPropertyDescription("The version of the wire protocol.") @Required
        Integer wire,

        @JsonPropertyDescription("The layout of segments.") @Required
        Integer layout,

        @JsonPropertyDescription(
                "Since when all connected processes have known both. The pool changes to them spec.upgrade.finaliseAfter later.")
        @Required
        @Size(max = 32)
        String since) {}
