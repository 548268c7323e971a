// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.storage;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** How the disk of a storage node is encrypted: by a random secret of its own, which a key of the user opens. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SsdEncryptionSpec(
        @JsonPropertyDescription(
                "Name of a Secret in the same namespace, whose entry `key` is 32 bytes, or 64 hexadecimal digits as openssl rand -hex 32"
                        + " prints them. The pods of storage nodes wait until it is there. With another key than before the disk"
                        + " starts empty, when the storage node starts next.")
        @Required
        @Size(min = 1, max = 253)
        @ValidationRule(
                value = "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",
                message = "keySecret must be the name of a Secret: lower case letters, digits, '-' and '.'")
        String keySecret) {}
