// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;

/** The masters of a pool. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record MastersSpec(
        @JsonPropertyDescription("How many masters run: one leads, each other one is a hot standby.")
        @Default("2")
        @Min(1)
        @Max(7)
        Integer replicas,

        @JsonPropertyDescription("Compute resources of a master. Default: 100m CPU and 512Mi to 1Gi memory.")
        ResourceSpec resources,

        @JsonPropertyDescription("Where masters may run. Default: spread over nodes where possible.")
        SchedulingSpec scheduling) {

    public static final int REPLICAS_DEFAULT = 2;

    public MastersSpec {
        replicas = replicas == null ? REPLICAS_DEFAULT : replicas;
        resources = resources == null ? ResourceSpec.EMPTY : resources;
        scheduling = scheduling == null ? SchedulingSpec.EMPTY : scheduling;
    }
}
