// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import io.fabric8.generator.annotation.Size;
import java.util.List;

/** How much memory the pool's pods get, and why. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record SizingStatus(
        @JsonPropertyDescription("Objects that the masters' memory is reckoned for.")
        Long expectedObjects,

        @JsonPropertyDescription(
                "Where that number comes from. Spec: masters.expectedObjects. Pool: its capacity in values of 1Mi, or what it"
                        + " has held where that is more; rounded up to a power of two, and never lowered.")
        @NullWhenUnknown
        ExpectationSource expectedObjectsFrom,

        @JsonPropertyDescription("Objects that the masters' memory limit has room for, rounded to two digits.")
        Long roomForObjects,

        @JsonPropertyDescription("Memory of the masters and of each storage set.") @Size(max = PODS_MAX)
        List<PodSizing> pods) {

    private static final int PODS_MAX = 1 + StorageSetSpec.SETS_MAX;

    public SizingStatus {
        pods = pods == null ? List.of() : List.copyOf(pods);
    }
}
