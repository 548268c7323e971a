// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.storage;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.rule.DurationRule;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** How storage nodes that are to go, or whose node of the cluster is cordoned, hand over what they hold. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record DrainSpec(
        @JsonPropertyDescription(
                "How long emptying a storage node may go on without any progress before onLeftovers counts, for example"
                        + " 10m. In an upgrade that empties storage nodes it fails after that time, whatever onLeftovers says.")
        @Default(TIMEOUT_DEFAULT)
        @Size(max = DurationRule.LENGTH_MAX)
        @ValidationRule(value = DurationRule.FORMAT, message = "timeout" + DurationRule.MESSAGE)
        @ValidationRule(
                value = "!(" + DurationRule.FORMAT + ") || (duration(self) >= duration('10s')"
                        + " && duration(self) <= duration('24h'))",
                message = "timeout must be between 10s and 24h")
        String timeout,

        @JsonPropertyDescription(
                "What becomes of a storage node that still holds objects with no other place after the timeout. Wait: it"
                        + " stays, takes nothing new and is tried again. Drop: it goes, and they are lost.")
        @Default("Wait")
        LeftoverPolicy onLeftovers,

        @JsonPropertyDescription(
                "How long a Kubernetes node that is cordoned is kept from losing its storage pods while emptying"
                        + " them makes no progress, for example 30m. Until a storage node on it is empty its pod is not evicted, as by kubectl drain; after"
                        + " this time it may be, with what only it holds, whatever onLeftovers says.")
        @Default(NODE_TIMEOUT_DEFAULT)
        @Size(max = DurationRule.LENGTH_MAX)
        @ValidationRule(value = DurationRule.FORMAT, message = "nodeTimeout" + DurationRule.MESSAGE)
        @ValidationRule(
                value = "!(" + DurationRule.FORMAT + ") || (duration(self) >= duration('10s')"
                        + " && duration(self) <= duration('24h'))",
                message = "nodeTimeout must be between 10s and 24h")
        String nodeTimeout) {

    public static final String TIMEOUT_DEFAULT = "10m";
    public static final String NODE_TIMEOUT_DEFAULT = "30m";

    public DrainSpec {
        timeout = timeout == null ? TIMEOUT_DEFAULT : timeout;
        onLeftovers = onLeftovers == null ? LeftoverPolicy.WAIT : onLeftovers;
        nodeTimeout = nodeTimeout == null ? NODE_TIMEOUT_DEFAULT : nodeTimeout;
    }
}
