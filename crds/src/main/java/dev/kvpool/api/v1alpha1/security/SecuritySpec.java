// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.security;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.Optional;

/** Whether the pool's processes know each other by certificates. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
        value = "!has(self.payloads) || self.payloads != 'Authenticated' || !has(self.mode) || self.mode != 'Off'",
        message =
                "payloads Authenticated needs mode Permissive or Required: without certificates nothing is authenticated",
        fieldPath = ".payloads")
@ValidationRule(
        value = "oldSelf.mode == 'Off' || self.certificates.source == oldSelf.certificates.source",
        message =
                "certificates.source can be changed only while mode is Off: pods with certificates of different sources would not know each"
                        + " other. Set mode to Off, wait until condition Secured is gone, and then change it",
        fieldPath = ".certificates")
@ValidationRule(
        value =
                "oldSelf.mode == 'Off' || has(self.certificates.trustDomain) == has(oldSelf.certificates.trustDomain)"
                        + " && (!has(self.certificates.trustDomain) || self.certificates.trustDomain == oldSelf.certificates.trustDomain)",
        message =
                "certificates.trustDomain can be changed only while mode is Off: pods made before would not know the names of those made after."
                        + " Set mode to Off, wait until condition Secured is gone, and then change it",
        fieldPath = ".certificates")
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
        Payloads payloads,

        @JsonPropertyDescription("Where the certificates come from. Kept, and not used, while mode is Off.")
        @Default("{}")
        CertificatesSpec certificates) {

    public SecuritySpec {
        mode = mode == null ? SecurityMode.REQUIRED : mode;
        payloads = payloads == null ? Payloads.ENCRYPTED : payloads;
        certificates = certificates == null ? new CertificatesSpec(null, null, null, null, null) : certificates;
    }

    /** What is to be known of the directories of certificates that others fill; empty where the operator makes them. */
    public Optional<CertificatesSpec> directory() {
        return Optional.of(certificates).filter(it -> it.source() == CertificateSource.DIRECTORY);
    }
}
