// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;
import java.util.List;

/** The storage nodes of a pool that use one of its transfer engines. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record EngineUse(
        @JsonPropertyDescription("Name of the TransferEngine. Absent for storage nodes with the defaults.")
        @Size(max = 253)
        String transferEngine,

        @JsonPropertyDescription("Storage nodes of the sets that use it.")
        ReadyCount storage,

        @JsonPropertyDescription("Protocols that every ready one of them offers.") @Size(max = 8)
        List<String> protocols) {

    public EngineUse {
        protocols = protocols == null ? List.of() : List.copyOf(protocols);
    }
}
