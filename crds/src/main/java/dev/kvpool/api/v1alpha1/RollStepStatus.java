// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** A step of an upgrade that is under way, with what must differ when it is done. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RollStepStatus(
        @JsonPropertyDescription("The pod it is about.") @Required @Size(max = 253)
        String pod,

        @JsonPropertyDescription(
                "Id of the storage node it is about, whose pod may have another name by the end. None for a master.")
        @Size(max = StorageSetSpec.NODE_ID_LENGTH_MAX)
        String node,

        @JsonPropertyDescription("What is done.") @Required RollStepKind kind,

        @JsonPropertyDescription("When it began.") @Required @Size(max = 32)
        String since,

        @JsonPropertyDescription("UID of the pod then.") @Size(max = 64)
        String uid,

        @JsonPropertyDescription("How often its container had been started anew then.")
        Integer restarts,

        @JsonPropertyDescription("The storage node's process then.") @Size(max = 16)
        String incarnation,

        @JsonPropertyDescription("Objects the storage node held then.")
        Long objects,

        @JsonPropertyDescription("Order-free hash of the ids of those objects.") @Size(max = 16)
        String idsHash,

        @JsonPropertyDescription("Epoch of the leadership that is handed over.")
        Long epoch) {}
