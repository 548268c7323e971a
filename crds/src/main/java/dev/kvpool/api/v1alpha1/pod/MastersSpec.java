// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.pod;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.ValidationRule;

/** The masters of a pool. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record MastersSpec(
        @JsonPropertyDescription("How many masters run: one leads, each other one is a hot standby.")
        @Default("2")
        @Min(1)
        @Max(MastersSpec.REPLICAS_MAX)
        Integer replicas,

        @JsonPropertyDescription(
                "How many objects the pool will hold at most, for the masters' memory: each keeps an index of all of them, about"
                        + " 200 bytes an object. Default: what the pool has room for in values of 1Mi, or has held where that is"
                        + " more, in powers of two and never lowered. A pool may hold more objects; its masters' memory may not.")
        @Min(1)
        @Max(EXPECTED_OBJECTS_MAX)
        Integer expectedObjects,

        @JsonPropertyDescription(
                "Compute resources of a master. Default: 100m CPU and memory for the expected objects, 512Mi to 1Gi at least;"
                        + " status.sizing has the sum.")
        @Default("{}")
        ResourceSpec resources,

        @JsonPropertyDescription("What the pods of masters get beside what the operator gives them.")
        @Default("{}")
        @ValidationRule(
                value = "!has(self.serviceAccountName)",
                message =
                        "masters run as ServiceAccount POOL-master, which may use their Lease: leave serviceAccountName out,"
                                + " and bind what else they need to that account")
        PodTemplate podTemplate) {

    public static final int REPLICAS_DEFAULT = 2;
    public static final int REPLICAS_MAX = 7;
    public static final int EXPECTED_OBJECTS_MAX = 1_000_000_000;

    public MastersSpec {
        replicas = replicas == null ? REPLICAS_DEFAULT : replicas;
        resources = resources == null ? ResourceSpec.EMPTY : resources;
        podTemplate = podTemplate == null ? PodTemplate.EMPTY : podTemplate;
    }
}
