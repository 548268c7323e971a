// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.security;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** A ServiceAccount of any namespace. */
public record ServiceAccountName(
        @JsonPropertyDescription("Namespace of the ServiceAccount.")
        @Required
        @ValidationRule(
                value = "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
                message = "namespace must be the name of a namespace: lower case letters, digits and '-'")
        @Size(min = 1, max = 63)
        String namespace,

        @JsonPropertyDescription("Name of the ServiceAccount.")
        @Required
        @ValidationRule(
                value = "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",
                message = "name must be the name of a ServiceAccount: lower case letters, digits, '-' and '.'")
        @Size(min = 1, max = 253)
        String name) {

    /** As rules of enrolment have it: NAMESPACE/NAME. */
    public String text() {
        return namespace + "/" + name;
    }
}
