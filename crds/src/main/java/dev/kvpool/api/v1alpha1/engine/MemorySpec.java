// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;

/** Memory of segments. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record MemorySpec(
        @JsonPropertyDescription(
                "Page size of segments. With 2Mi or 1Gi the storage pods request hugepages-SIZE for the whole"
                        + " segment; nodes without enough of them are not chosen by the scheduler.")
        @Default("None")
        HugePages hugePages) {

    public MemorySpec {
        hugePages = hugePages == null ? HugePages.NONE : hugePages;
    }
}
