// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.cache;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.rule.DurationRule;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** Rules of the cache. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record CacheSpec(
        @JsonPropertyDescription(
                "How long an object a reader was told about is neither evicted nor reused, for example 10s or"
                        + " 500ms.")
        @Default(OBJECT_LEASE_DEFAULT)
        @Size(max = DurationRule.LENGTH_MAX)
        @ValidationRule(value = DurationRule.FORMAT, message = "objectLease" + DurationRule.MESSAGE)
        @ValidationRule(
                value = "!(" + DurationRule.FORMAT + ") || (duration(self) >= duration('100ms')"
                        + " && duration(self) <= duration('1h'))",
                message = "objectLease must be between 100ms and 1h")
        String objectLease,

        @JsonPropertyDescription("When objects are evicted.") @Default("{}")
        EvictionSpec eviction,

        @JsonPropertyDescription("What a soft pin keeps from eviction, and for how long.") @Default("{}")
        SoftPinSpec softPin,

        @JsonPropertyDescription(
                "Percent of each storage node's capacity that puts leave free, so that they go on right after another"
                        + " master took over, when everything is leased and nothing may be evicted. Counts at most as"
                        + " far as the highWatermarkPercent leaves room.")
        @Default("1")
        @Min(0)
        @Max(50)
        Integer takeoverReservePercent,

        @JsonPropertyDescription(
                "Copies kept of each object, each on another storage node. With fewer nodes than copies, as"
                        + " many copies as there are nodes are kept.")
        @Default("1")
        @Min(1)
        @Max(8)
        Integer replicas,

        @JsonPropertyDescription("How lost copies are replaced.") @Default("{}")
        RepairSpec repair,

        @JsonPropertyDescription(
                "What becomes of objects of a storage node that was away while objects were removed or replaced, when"
                        + " all nodes that know which these were are away too and the leading master is gone. Strict:"
                        + " they are unavailable, and removals fail, until one of these nodes is back or is forgotten."
                        + " Available: they are served, and removed ones may be read again; right where each key is a"
                        + " hash of all that its value depends on. Strict is the default, since an engine computes"
                        + " again what it misses, but answers wrongly from a value that was removed.")
        @Default("Strict")
        Consistency consistency) {

    public static final String OBJECT_LEASE_DEFAULT = "10s";
    public static final int TAKEOVER_RESERVE_PERCENT_DEFAULT = 1;
    public static final int REPLICAS_DEFAULT = 1;

    public CacheSpec {
        objectLease = objectLease == null ? OBJECT_LEASE_DEFAULT : objectLease;
        eviction = eviction == null ? new EvictionSpec(null, null) : eviction;
        softPin = softPin == null ? new SoftPinSpec(null, null) : softPin;
        takeoverReservePercent =
                takeoverReservePercent == null ? TAKEOVER_RESERVE_PERCENT_DEFAULT : takeoverReservePercent;
        replicas = replicas == null ? REPLICAS_DEFAULT : replicas;
        repair = repair == null ? new RepairSpec(null, null) : repair;
        consistency = consistency == null ? Consistency.STRICT : consistency;
    }
}
