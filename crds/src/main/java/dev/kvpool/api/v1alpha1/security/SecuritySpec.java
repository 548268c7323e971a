// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.security;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.ValidationRule;

/** Whether the pool's processes know each other by certificates. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
        value = "!has(self.payloads) || self.payloads != 'Authenticated' || !has(self.mode) || self.mode != 'Off'",
        message =
                "payloads Authenticated needs mode Permissive or Required: without certificates nothing is authenticated",
        fieldPath = ".payloads")
public record SecuritySpec(
        @JsonPropertyDescription(
                "Off: nothing is authenticated or encrypted. Permissive: the pool's own processes use TLS, plain peers are still"
                        + " let in and may do everything. Required: TLS only, and each peer may do what its certificate says. A change"
                        + " makes all pods again in their turn, storage pods as onDataLoss says. From Off to Required and back the"
                        + " pool passes through Permissive by itself: its next pods are Permissive until no pod is left that could not"
                        + " speak with them.")
        @Default("Required")
        SecurityMode mode,

        @JsonPropertyDescription(
                "Of connections between engines and storage nodes, and between storage nodes. Encrypted: TLS. Authenticated:"
                        + " certificates are checked, then keys and values go without encryption: it keeps strangers out, not who can"
                        + " see or change what passes on the network. Connections with masters are always encrypted. Engines may insist"
                        + " on encryption (KVPOOL_PAYLOADS=encrypted). A change makes storage pods again as onDataLoss says; the pool"
                        + " serves meanwhile.")
        @Default("Encrypted")
        Payloads payloads) {

    public SecuritySpec {
        mode = mode == null ? SecurityMode.REQUIRED : mode;
        payloads = payloads == null ? Payloads.ENCRYPTED : payloads;
    }
}
