// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.cache;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.rule.DurationRule;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** What a soft pin keeps from eviction, and for how long. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SoftPinSpec(
        @JsonPropertyDescription(
                "How long a soft pin outlives the last use of its object when its put does not say, for example 30m.")
        @Default(TTL_DEFAULT)
        @Size(max = DurationRule.LENGTH_MAX)
        @ValidationRule(value = DurationRule.FORMAT, message = "ttl" + DurationRule.MESSAGE)
        @ValidationRule(
                value = "!(" + DurationRule.FORMAT + ") || (duration(self) >= duration('1s')"
                        + " && duration(self) <= duration('24h'))",
                message = "ttl must be between 1s and 24h")
        String ttl,

        @JsonPropertyDescription(
                "Whether softly pinned objects are evicted when nothing unpinned is left. When false, puts fail for"
                        + " want of space instead.")
        @Default("true")
        Boolean evict) {

    public static final String TTL_DEFAULT = "30m";
    public static final boolean EVICT_DEFAULT = true;

    public SoftPinSpec {
        ttl = ttl == null ? TTL_DEFAULT : ttl;
        evict = evict == null ? EVICT_DEFAULT : evict;
    }
}
