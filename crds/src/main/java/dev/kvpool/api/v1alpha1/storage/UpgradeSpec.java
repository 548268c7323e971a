// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.storage;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.rule.DurationRule;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** How a pool is upgraded to another version. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record UpgradeSpec(
        @JsonPropertyDescription("How many storage nodes may be away at a time for an upgrade.")
        @Default("1")
        @Min(1)
        @Max(MAX_UNAVAILABLE_MAX)
        Integer maxUnavailable,

        @JsonPropertyDescription(
                "How many storage nodes keep the version they run, the first ones by name, while all others and the"
                        + " masters are upgraded. 0 lets the upgrade finish.")
        @Default("0")
        @Min(0)
        @Max(3072)
        Integer partition,

        @JsonPropertyDescription("True: no further step is begun; a step under way is finished.") @Default("false")
        Boolean paused,

        @JsonPropertyDescription(
                "How long one step may take, for example 10m. When it takes longer the upgrade has failed, and the pool"
                        + " goes back to the version it ran before. Where storage nodes are emptied first,"
                        + " spec.drain.timeout comes on top.")
        @Default(STEP_TIMEOUT_DEFAULT)
        @Size(max = DurationRule.LENGTH_MAX)
        @ValidationRule(value = DurationRule.FORMAT, message = "stepTimeout" + DurationRule.MESSAGE)
        @ValidationRule(
                value = "!(" + DurationRule.FORMAT + ") || (duration(self) >= duration('10s')"
                        + " && duration(self) <= duration('24h'))",
                message = "stepTimeout must be between 10s and 24h")
        String stepTimeout,

        @JsonPropertyDescription(
                "True: an upgrade is not refused because of connected clients that would not understand the new"
                        + " version. They would miss the cache until they are upgraded.")
        @Default("false")
        Boolean ignoreClients,

        @JsonPropertyDescription(
                "How long all connected processes must have known a higher wire version or segment layout before the pool"
                        + " changes to it, for example 10m. That cannot be taken back: until then spec.version can be set back warm,"
                        + " and clients that know less can still connect and hold it up.")
        @Default(FINALISE_AFTER_DEFAULT)
        @Size(max = DurationRule.LENGTH_MAX)
        @ValidationRule(value = DurationRule.FORMAT, message = "finaliseAfter" + DurationRule.MESSAGE)
        @ValidationRule(
                value = "!(" + DurationRule.FORMAT + ") || (duration(self) >= duration('1s')"
                        + " && duration(self) <= duration('168h'))",
                message = "finaliseAfter must be between 1s and 168h")
        String finaliseAfter) {

    public static final int MAX_UNAVAILABLE_DEFAULT = 1;
    public static final int MAX_UNAVAILABLE_MAX = 16;
    public static final String STEP_TIMEOUT_DEFAULT = "10m";
    public static final String FINALISE_AFTER_DEFAULT = "10m";

    public UpgradeSpec {
        maxUnavailable = maxUnavailable == null ? MAX_UNAVAILABLE_DEFAULT : maxUnavailable;
        partition = partition == null ? 0 : partition;
        paused = paused != null && paused;
        stepTimeout = stepTimeout == null ? STEP_TIMEOUT_DEFAULT : stepTimeout;
        ignoreClients = ignoreClients != null && ignoreClients;
        finaliseAfter = finaliseAfter == null ? FINALISE_AFTER_DEFAULT : finaliseAfter;
    }
}
