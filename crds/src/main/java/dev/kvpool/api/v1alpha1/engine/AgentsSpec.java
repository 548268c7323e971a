// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.pod.PodTemplate;
import dev.kvpool.api.v1alpha1.pod.ResourceSpec;
import dev.kvpool.api.v1alpha1.rule.PathRule;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Quantity;

/** Agents: one for each pool on each node of the cluster where engines run. They own no objects. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record AgentsSpec(
        @JsonPropertyDescription(
                "Directory of the nodes. Each pool has one of its own in it, NAMESPACE.POOL, with the agent's socket; pods of"
                        + " engines mount that one as hostPath at the same place. Only namespaces of pod security level"
                        + " privileged admit agents and such pods.")
        @Default(PATH_DEFAULT)
        @ValidationRule(value = PathRule.FORMAT, message = PathRule.MESSAGE)
        @Size(max = 256)
        String path,

        @JsonPropertyDescription(
                "Most memory that all engines of a node together share with the agent of a pool: the sum of their"
                        + " local_buffer_size, for example 4Gi.")
        @Default(STAGING_DEFAULT)
        @ValidationRule(
                value = "quantity(string(self)).compareTo(quantity('16Mi')) >= 0",
                message = "stagingSize must be a quantity of at least 16Mi, for example 1Gi")
        @ValidationRule(
                value = "quantity(string(self)).compareTo(quantity('1Ti')) <= 0",
                message = "stagingSize must be a quantity of at most 1Ti")
        Quantity stagingSize,

        @JsonPropertyDescription(
                "Compute resources of an agent. Default: 100m CPU, 256Mi memory, and a limit of stagingSize plus 512Mi. A"
                        + " memory limit of your own must be above stagingSize.")
        @Default("{}")
        ResourceSpec resources,

        @JsonPropertyDescription(
                "What the pods of agents get beside what the operator gives them. Its nodeSelector chooses the Kubernetes nodes with"
                        + " engines. Default: every one whose taints are tolerated.")
        @Default("{}")
        @ValidationRule(
                value = "!has(self.topologySpreadConstraints)",
                message = "agents are one on each Kubernetes node: leave topologySpreadConstraints out")
        PodTemplate podTemplate) {

    public static final String PATH_DEFAULT = "/run/kvpool";
    public static final String STAGING_DEFAULT = "1Gi";

    public AgentsSpec {
        path = path == null ? PATH_DEFAULT : path;
        stagingSize = stagingSize == null ? new Quantity(STAGING_DEFAULT) : stagingSize;
        resources = resources == null ? ResourceSpec.EMPTY : resources;
        podTemplate = podTemplate == null ? PodTemplate.EMPTY : podTemplate;
    }
}
