// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.rule.DurationRule;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** Time limits of the data path. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
        value = "![self.connect, self.transfer].all(t, " + DurationRule.FORMAT_OF_T + ")"
                + " || duration(self.connect) <= duration(self.transfer)",
        message = "timeouts: connect must not be longer than transfer")
public record TimeoutsSpec(
        @JsonPropertyDescription("Longest time to open a connection, for example 3s.")
        @Default(CONNECT_DEFAULT)
        @Size(max = DurationRule.LENGTH_MAX)
        @ValidationRule(value = DurationRule.FORMAT, message = "connect" + DurationRule.MESSAGE)
        @ValidationRule(
                value = "!(" + DurationRule.FORMAT + ") || (duration(self) >= duration('1ms')"
                        + " && duration(self) <= duration('1h'))",
                message = "connect must be between 1ms and 1h")
        String connect,

        @JsonPropertyDescription("Longest time one transfer may take, for example 30s.")
        @Default(TRANSFER_DEFAULT)
        @Size(max = DurationRule.LENGTH_MAX)
        @ValidationRule(value = DurationRule.FORMAT, message = "transfer" + DurationRule.MESSAGE)
        @ValidationRule(
                value = "!(" + DurationRule.FORMAT + ") || (duration(self) >= duration('1ms')"
                        + " && duration(self) <= duration('1h'))",
                message = "transfer must be between 1ms and 1h")
        String transfer) {

    public static final String CONNECT_DEFAULT = "3s";
    public static final String TRANSFER_DEFAULT = "30s";

    public TimeoutsSpec {
        connect = connect == null ? CONNECT_DEFAULT : connect;
        transfer = transfer == null ? TRANSFER_DEFAULT : transfer;
    }
}
