// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.pod;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.EnvVarSource;

/** An environment variable. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(value = "!(has(self.value) && has(self.valueFrom))", message = "value and valueFrom exclude each other")
public record EnvironmentVariable(
        @JsonPropertyDescription("Name of the variable.")
        @Required
        @ValidationRule(
                value = "self.matches('^[A-Za-z_][A-Za-z0-9_]*$')",
                message = "name must consist of letters, digits and '_', and not start with a digit")
        @Size(max = 128)
        @ValidationRule(
                value = "self in ['KVPOOL_UCX_LIBRARY', 'KVPOOL_CERTIFICATE_LIFE'] || (!self.startsWith('KVPOOL_') &&"
                        + " !self.startsWith('POD_') && !(self in ['NODE_NAME', 'ASCEND_VISIBLE_DEVICES']))",
                message =
                        "NODE_NAME, ASCEND_VISIBLE_DEVICES and names that start with KVPOOL_ or POD_ are set by the operator")
        String name,

        @JsonPropertyDescription("Its value. Default: empty.") @Size(max = 1024)
        String value,

        @JsonPropertyDescription("Where its value comes from: a key of a ConfigMap or Secret, or a field of the pod.")
        EnvVarSource valueFrom) {}
