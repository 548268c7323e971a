// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** A file or directory of the host that a container gets a copy of. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record HostFile(
        @JsonPropertyDescription("Absolute path on the host and in the container.")
        @Required
        @Size(min = 2, max = 255)
        @ValidationRule(
                value = "self.matches('^/(etc|lib|run|usr|var)(/[A-Za-z0-9._+-]+)+$') && !self.contains('..')",
                message =
                        "path must be absolute, without '..', '//', blanks or a '/' at the end, and in /etc, /lib, /run,"
                                + " /usr or /var, which every host has")
        String path) {}
