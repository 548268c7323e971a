// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** Time limits of the data path. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
        value = "![self.connect, self.transfer].all(t, t.matches('^[1-9][0-9]{0,8}(ms|s|m)$'))"
                + " || duration(self.connect) <= duration(self.transfer)",
        message = "timeouts: connect must not be longer than transfer")
public record TimeoutsSpec(
        @JsonPropertyDescription("Longest time to open a connection, for example 3s.")
        @Default(CONNECT_DEFAULT)
        @Size(max = 16)
        @ValidationRule(
                value = DurationRule.FORMAT,
                message = "connect must be one whole number with a unit ms, s or m, for example 3s")
        String connect,

        @JsonPropertyDescription("Longest time one transfer may take, for example 30s.")
        @Default(TRANSFER_DEFAULT)
        @Size(max = 16)
        @ValidationRule(
                value = DurationRule.FORMAT,
                message = "transfer must be one whole number with a unit ms, s or m, for example 30s")
        String transfer) {

    public static final String CONNECT_DEFAULT = "3s";
    public static final String TRANSFER_DEFAULT = "30s";

    public TimeoutsSpec {
        connect = connect == null ? CONNECT_DEFAULT : connect;
        transfer = transfer == null ? TRANSFER_DEFAULT : transfer;
    }
}
