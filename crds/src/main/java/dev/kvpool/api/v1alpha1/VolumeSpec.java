// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;

/** Where a segment file lies. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record VolumeSpec(
        @JsonPropertyDescription(
                "emptyDir: memory of the pod. It survives restarts of the container, not replacement of the" + " pod.")
        @Default("emptyDir")
        VolumeType type) {

    public VolumeSpec {
        type = type == null ? VolumeType.EMPTY_DIR : type;
    }
}
