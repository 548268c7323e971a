// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.cache;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.ValidationRule;

/** Eviction starts above the high watermark and stops at the low one. Both are percent of the capacity. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
        value = "self.lowWatermarkPercent < self.highWatermarkPercent",
        message = "lowWatermarkPercent must be lower than highWatermarkPercent")
public record EvictionSpec(
        @JsonPropertyDescription(
                "Percent of the capacity above which eviction starts. It starts earlier where writers need more room at"
                        + " once, or free room lies in small pieces.")
        @Default("98")
        @Min(1)
        @Max(100)
        Integer highWatermarkPercent,

        @JsonPropertyDescription(
                "Percent of the capacity at which eviction stops; as much lower as it started earlier.")
        @Default("97")
        @Min(1)
        @Max(100)
        Integer lowWatermarkPercent) {

    public static final int HIGH_WATERMARK_PERCENT_DEFAULT = 98;
    public static final int LOW_WATERMARK_PERCENT_DEFAULT = 97;

    public EvictionSpec {
        highWatermarkPercent = highWatermarkPercent == null ? HIGH_WATERMARK_PERCENT_DEFAULT : highWatermarkPercent;
        lowWatermarkPercent = lowWatermarkPercent == null ? LOW_WATERMARK_PERCENT_DEFAULT : lowWatermarkPercent;
    }
}
