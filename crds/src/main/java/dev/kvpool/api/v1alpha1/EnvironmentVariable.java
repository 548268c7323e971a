// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** An environment variable. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record EnvironmentVariable(
        @JsonPropertyDescription("Name of the variable.")
        @Required
        @ValidationRule(
                value = "self.matches('^[A-Za-z_][A-Za-z0-9_]*$')",
                message = "name must consist of letters, digits and '_', and not start with a digit")
        @Size(max = 128)
        @ValidationRule(
                value = "!self.startsWith('KVPOOL_') && !self.startsWith('POD_')",
                message = "names that start with KVPOOL_ or POD_ are set by the operator")
        String name,

        @JsonPropertyDescription("Its value.") @Required @Size(max = 1024)
        String value) {}
