// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.storage;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.Map;

/** One storage node on every matching Kubernetes node, as nodes come and go. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record PerNodeSpec(
        @JsonPropertyDescription(
                "Labels a node must have to get a storage node. Empty: every node whose taints the set tolerates.")
        Map<String, String> nodeSelector) {

    public PerNodeSpec {
        nodeSelector = nodeSelector == null ? Map.of() : Map.copyOf(nodeSelector);
    }
}
