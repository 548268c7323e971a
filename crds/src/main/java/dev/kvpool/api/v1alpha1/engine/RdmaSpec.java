// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.rule.QualifiedNameRule;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** RDMA cards in storage pods and agents. Resource names differ by device plugin and its settings, so the name is a field. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RdmaSpec(
        @JsonPropertyDescription("Extended resource of the device plugin, for example rdma/hca_shared_devices_a or"
                + " nvidia.com/mlnxnics.")
        @Required
        @ValidationRule(
                value = QualifiedNameRule.FORMAT,
                message = "resourceName must be DOMAIN/NAME, for example rdma/hca_shared_devices_a")
        @Size(max = 253)
        String resourceName,

        @JsonPropertyDescription("Devices each of these pods requests.") @Default("1") @Min(1) @Max(16)
        Integer count) {

    public RdmaSpec {
        count = count == null ? 1 : count;
    }
}
