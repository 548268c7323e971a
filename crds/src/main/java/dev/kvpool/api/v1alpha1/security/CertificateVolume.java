// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.security;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;

/**
 * The volume in which the processes of one role find their certificates. A certificate names one process, and pods of a workload are made of one template:
 * so either a CSI driver makes another one for each pod, or there is a Secret for each process and all pods of the role mount all of them.
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
@ValidationRule(
        value = "has(self.csi) != has(self.secrets)",
        message = "certificates come either from csi or from secrets: give one of them")
public record CertificateVolume(
        @JsonPropertyDescription(
                "A volume that a CSI driver makes for each pod, with tls.crt, tls.key and ca.crt in it.")
        CertificateCsi csi,

        @JsonPropertyDescription(
                "Secrets of the namespace with tls.crt, tls.key and ca.crt, one for each process. All pods of the role mount all of them.")
        @Size(min = 1, max = SECRETS_MAX)
        List<CertificateSecret> secrets) {
    public static final int SECRETS_MAX = 256;

    public CertificateVolume {
        secrets = secrets == null ? List.of() : List.copyOf(secrets);
    }
}
