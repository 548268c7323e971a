// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Map;

/** Where pods may run; the fields mean what they mean in a pod. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record SchedulingSpec(
        @JsonPropertyDescription("Labels a node must have.") Map<String, String> nodeSelector,

        @JsonPropertyDescription("Taints the pods tolerate.") @Size(max = 32)
        List<Toleration> tolerations,

        @JsonPropertyDescription("Node and pod affinity. Default: pods of one kind prefer different nodes.")
        Affinity affinity,

        @JsonPropertyDescription("PriorityClass of the pods.")
        @Size(max = 253)
        @ValidationRule(
                value = "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",
                message =
                        "priorityClassName must be the name of a PriorityClass: lower case letters, digits, '-' and '.'")
        String priorityClassName,

        @JsonPropertyDescription("Name of the scheduler, for example volcano.")
        @Size(max = 253)
        @ValidationRule(
                value = "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",
                message = "schedulerName must be the name of a scheduler: lower case letters, digits, '-' and '.'")
        String schedulerName) {

    public static final SchedulingSpec EMPTY = new SchedulingSpec(null, null, null, null, null);

    public SchedulingSpec {
        nodeSelector = nodeSelector == null ? Map.of() : Map.copyOf(nodeSelector);
        tolerations = tolerations == null ? List.of() : List.copyOf(tolerations);
    }
}
