// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.cache;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.rule.DurationRule;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Quantity;

/** How lost copies are recreated. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RepairSpec(
        @JsonPropertyDescription(
                "How long a storage node may be away before the copies it held are made again on others, for example 30s.")
        @Default(DELAY_DEFAULT)
        @Size(max = DurationRule.LENGTH_MAX)
        @ValidationRule(value = DurationRule.FORMAT, message = "delay" + DurationRule.MESSAGE)
        @ValidationRule(
                value = "!(" + DurationRule.FORMAT + ") || (duration(self) >= duration('100ms')"
                        + " && duration(self) <= duration('24h'))",
                message = "delay must be between 100ms and 24h")
        String delay,

        @JsonPropertyDescription(
                "Bytes a second that repair and drain may send to a storage node, and fetch from one, for example 256Mi.")
        @Default(RATE_DEFAULT)
        @ValidationRule(
                value = "isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('64Ki')) >= 0"
                        + " && quantity(string(self)).compareTo(quantity('1Ti')) <= 0",
                message = "rate must be a quantity of bytes a second from 64Ki to 1Ti, for example 256Mi")
        Quantity rate) {

    public static final String DELAY_DEFAULT = "30s";
    public static final String RATE_DEFAULT = "256Mi";

    public RepairSpec {
        delay = delay == null ? DELAY_DEFAULT : delay;
        rate = rate == null ? new Quantity(RATE_DEFAULT) : rate;
    }
}
