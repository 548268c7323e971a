// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.pod;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** Names a Secret of the same namespace. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SecretName(
        @JsonPropertyDescription("Name of the Secret.")
        @Required
        @Size(min = 1, max = 253)
        @ValidationRule(
                value = "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",
                message = "name must be the name of a Secret: lower case letters, digits, '-' and '.'")
        String name) {}
