// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.ReadyCount;
import io.fabric8.generator.annotation.Size;
import java.util.List;

/** What the operator observed of a transfer engine. */
@JsonClassDescription("What the operator observed of the pools that name this engine.")
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record TransferEngineStatus(
        @JsonPropertyDescription("Generation of the spec this status was made from.")
        Long observedGeneration,

        @JsonPropertyDescription("The engine in one sentence.") @Size(max = Condition.MESSAGE_LENGTH_MAX)
        String message,

        @JsonPropertyDescription("Conditions by type; their reasons are listed in the operator's documentation.")
        @Size(max = 16)
        List<Condition> conditions,

        @JsonPropertyDescription("Storage nodes of the pools that use this engine.")
        ReadyCount nodes,

        @JsonPropertyDescription("Agents of those pools. Absent when the engine asks for none.")
        ReadyCount agents,

        @JsonPropertyDescription("Protocols that all those nodes offer.") @Size(max = 8)
        List<String> protocols,

        @JsonPropertyDescription("How many pools use this engine.")
        Integer poolCount,

        @JsonPropertyDescription("The first pools that use this engine, by name.") @Size(max = POOLS_MAX)
        List<String> pools) {

    public static final int POOLS_MAX = 32;

    public static final TransferEngineStatus EMPTY =
            new TransferEngineStatus(null, null, null, null, null, null, null, null);

    public TransferEngineStatus {
        conditions = conditions == null
                ? List.of()
                : conditions.stream().filter(Condition::isKnown).toList();
        protocols = protocols == null ? List.of() : List.copyOf(protocols);
        pools = pools == null ? List.of() : List.copyOf(pools);
    }
}
