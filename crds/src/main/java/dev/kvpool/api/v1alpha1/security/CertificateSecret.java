// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.security;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** The Secret with the certificate of one process. */
public record CertificateSecret(
        @JsonPropertyDescription(
                "Which master or storage node it is for: the name of the pod, or SET.NODE in sets with perNode. Those that are not there yet may"
                        + " be named: a name or Secret more or less replaces all pods of the role, of all sets. The order does not matter.")
        @Required
        @ValidationRule(
                value = "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",
                message = "name must be that of a master or storage node: lower case letters, digits, '-' and '.'")
        @Size(min = 1, max = NAME_LENGTH_MAX)
        String name,

        @JsonPropertyDescription("Name of the Secret. A pod whose own is missing starts when it is there.")
        @Required
        @ValidationRule(
                value = "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",
                message = "secretName must be the name of a Secret: lower case letters, digits, '-' and '.'")
        @Size(min = 1, max = NAME_LENGTH_MAX)
        String secretName) {
    static final int NAME_LENGTH_MAX = 253;
}
