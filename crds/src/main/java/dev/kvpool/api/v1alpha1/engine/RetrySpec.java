// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.rule.DurationRule;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** How long clients try again. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RetrySpec(
        @JsonPropertyDescription(
                "Longest time a call of a client may take, with all attempts at other masters, other copies and after a"
                        + " change of leader, for example 30s. Clients read it when they start.")
        @Default(DEADLINE_DEFAULT)
        @Size(max = DurationRule.LENGTH_MAX)
        @ValidationRule(value = DurationRule.FORMAT, message = "deadline" + DurationRule.MESSAGE)
        @ValidationRule(
                value = "!(" + DurationRule.FORMAT + ") || (duration(self) >= duration('100ms')"
                        + " && duration(self) <= duration('1h'))",
                message = "deadline must be between 100ms and 1h")
        String deadline) {

    public static final String DEADLINE_DEFAULT = "30s";

    public RetrySpec {
        deadline = deadline == null ? DEADLINE_DEFAULT : deadline;
    }
}
