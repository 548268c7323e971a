// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.ValidationRule;

/** Eviction starts above the high watermark and stops at the low one. Both are shares of the capacity. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
        value = "self.lowWatermark < self.highWatermark",
        message = "lowWatermark must be lower than highWatermark")
public record EvictionSpec(
        @JsonPropertyDescription("Share of the capacity above which eviction starts.")
        @Default("0.9")
        @ValidationRule(value = "self > 0.0 && self <= 1.0", message = "highWatermark must be above 0 and at most 1")
        Double highWatermark,

        @JsonPropertyDescription("Share of the capacity at which eviction stops.")
        @Default("0.85")
        @ValidationRule(value = "self > 0.0 && self <= 1.0", message = "lowWatermark must be above 0 and at most 1")
        Double lowWatermark) {

    public static final double HIGH_WATERMARK_DEFAULT = 0.90;
    public static final double LOW_WATERMARK_DEFAULT = 0.85;

    public EvictionSpec {
        highWatermark = highWatermark == null ? HIGH_WATERMARK_DEFAULT : highWatermark;
        lowWatermark = lowWatermark == null ? LOW_WATERMARK_DEFAULT : lowWatermark;
    }
}
