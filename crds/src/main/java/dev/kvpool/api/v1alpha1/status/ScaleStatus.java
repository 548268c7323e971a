// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.model.annotation.LabelSelector;
import io.fabric8.kubernetes.model.annotation.StatusReplicas;

/** The storage set that scales: what autoscalers read. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ScaleStatus(
        @JsonPropertyDescription("Name of the set.") @Size(max = StorageSetSpec.NAME_LENGTH_MAX)
        String set,

        @JsonPropertyDescription("Storage nodes it has now, those that are being emptied included.") @StatusReplicas
        Integer replicas,

        @JsonPropertyDescription("Selects its pods.") @Size(max = 512) @LabelSelector
        String selector) {}
