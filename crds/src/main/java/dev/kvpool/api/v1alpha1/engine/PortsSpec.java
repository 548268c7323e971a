// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.ValidationRule;

/** Ports of storage nodes. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
        value = "!has(self.count) || self.base + self.count <= 65536",
        message = "ports: the range from base with count ports must end at 65535 at the latest")
public record PortsSpec(
        @JsonPropertyDescription(
                "TCP port of the data path. With hostNetwork: the first port of the range that storage nodes may use.")
        @Default("50061")
        @Min(1024)
        @Max(65535)
        @ValidationRule(
                value = "self != 9301",
                message = "port 9301 is the storage node's admin port: choose another base")
        Integer base,

        @JsonPropertyDescription(
                "With hostNetwork: how many ports from base on storage nodes may use. Each storage set of the pools that"
                        + " use this engine gets two of its own. Default: 32.")
        @Min(2)
        @Max(4096)
        Integer count) {

    public static final int BASE_DEFAULT = 50061;
    public static final int COUNT_DEFAULT = 32;

    public PortsSpec {
        base = base == null ? BASE_DEFAULT : base;
    }
}
