// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;

/** How many of something are ready. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ReadyCount(
        @JsonPropertyDescription("How many are ready.") Integer ready,

        @JsonPropertyDescription("How many there should be.")
        Integer desired,

        @JsonPropertyDescription("Both as text, for example 2/3.") @Size(max = 32)
        String summary) {

    /** Counts with their text. */
    public static ReadyCount of(int ready, int desired) {
        return new ReadyCount(ready, desired, ready + "/" + desired);
    }
}
