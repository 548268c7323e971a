// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.pod;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.Map;

/** Who may reach the pods of a pool. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
@ValidationRule(
        value = "self.enabled || !has(self.clientNamespaces) || self.clientNamespaces.size() == 0",
        message = "clientNamespaces is for the operator's NetworkPolicies: leave it out, or enable them")
@ValidationRule(
        value = "self.enabled || !has(self.adminNamespaces) || self.adminNamespaces.size() == 0",
        message = "adminNamespaces is for the operator's NetworkPolicies: leave it out, or enable them")
public record NetworkPolicySpec(
        @JsonPropertyDescription(
                "True: NetworkPolicies close every port of the pool's pods but those the pool serves. False: the"
                        + " operator makes none, for clusters with policies of their own.")
        @Default("true")
        Boolean enabled,

        @JsonPropertyDescription(
                "Labels a namespace must have for its pods to reach the ports for objects. Empty: all may, since"
                        + " engines can be in any namespace and on the network of their nodes.")
        Map<String, String> clientNamespaces,

        @JsonPropertyDescription(
                "Labels a namespace must have for its pods to reach the admin ports, as monitoring needs it. The operator and the"
                        + " pool's own pods always do. Empty: no others where clientNamespaces is set, else all.")
        Map<String, String> adminNamespaces) {

    public NetworkPolicySpec {
        enabled = enabled == null || enabled;
        clientNamespaces = clientNamespaces == null ? Map.of() : Map.copyOf(clientNamespaces);
        adminNamespaces = adminNamespaces == null ? Map.of() : Map.copyOf(adminNamespaces);
    }
}
