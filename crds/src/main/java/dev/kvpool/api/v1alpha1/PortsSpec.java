// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.ValidationRule;

/** Ports of a storage node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PortsSpec(
        @JsonPropertyDescription("TCP port of the data path.")
        @Default("50061")
        @Min(1024)
        @Max(65535)
        @ValidationRule(
                value = "self != 9301",
                message = "port 9301 is the storage node's admin port: choose another base")
        Integer base) {

    public static final int BASE_DEFAULT = 50061;

    public PortsSpec {
        base = base == null ? BASE_DEFAULT : base;
    }
}
