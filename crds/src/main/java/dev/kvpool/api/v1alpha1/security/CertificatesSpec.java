// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.security;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/**
 * Where the certificates of a pool come from. Of a directory that others fill the operator needs to know no more than which volume it is for each role,
 * since it reads no Secrets; and the one root by which it knows masters before it shows them its token.
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
        value =
                "self.source == 'Directory' || (!has(self.ca) && !has(self.masters) && !has(self.storage) && !has(self.trustDomain))",
        message =
                "ca, masters, storage and trustDomain are for source Directory: with source Operator the operator and the masters make all certificates")
@ValidationRule(
        value = "self.source != 'Directory' || (has(self.ca) && has(self.masters))",
        message =
                "source Directory needs ca, the certificate by which masters are known, and masters, the volume that theirs come from")
public record CertificatesSpec(
        @JsonPropertyDescription(
                "Operator: the operator makes a certificate authority for the pool, and masters sign. Directory: each pod has a directory"
                        + " with tls.crt, tls.key and ca.crt that others fill and renew, such as cert-manager, and nothing is signed for"
                        + " tokens. It can be changed while mode is Off.")
        @Default("Operator")
        CertificateSource source,

        @JsonPropertyDescription(
                "For Directory: PEM of the one root that the certificates of masters lead to, which has signed itself. The operator and the check"
                        + " of an upgrade know masters by it. A change replaces no pod.")
        @ValidationRule(
                value = "self.contains('-----BEGIN CERTIFICATE-----')",
                message = "ca must be a certificate in PEM, with the lines BEGIN CERTIFICATE and END CERTIFICATE")
        @Size(min = 1, max = CA_LENGTH_MAX)
        String ca,

        @JsonPropertyDescription(
                "For Directory: the volume with the certificates of masters. Each has one URI SAN, spiffe://POOL-UID/master/POD, or one of"
                        + " trustDomain.")
        CertificateVolume masters,

        @JsonPropertyDescription(
                "For Directory: the volume with the certificates of storage nodes. Each has one URI SAN, spiffe://POOL-UID/node/ID; the id is"
                        + " the name of the pod, or SET.NODE in sets with perNode. Or they have one of trustDomain.")
        CertificateVolume storage,

        @JsonPropertyDescription(
                "For Directory: the trust domain of certificates that name ServiceAccounts, spiffe://TRUST-DOMAIN/ns/NAMESPACE/sa/ACCOUNT, as"
                        + " SPIRE and cert-manager's csi-driver-spiffe give them, for example cluster.local. They are good for the pool's masters,"
                        + " storage nodes and engines by the ServiceAccounts of their pods, and do not say which master or storage node a process is."
                        + " Names of the pool's own are good as well. The trust domain and its root must be of this cluster alone: who may make the"
                        + " pool's namespace and ServiceAccounts in another cluster that has them is a member of the pool. It can be changed while"
                        + " mode is Off.")
        @ValidationRule(
                value = "self.matches('^[-a-z0-9._]+$')",
                message = "trustDomain must be a trust domain of SPIFFE: lower case letters, digits, '.', '-' and '_'")
        @ValidationRule(
                value = "!self.matches('^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')",
                message = "trustDomain must not be the id of a pool, whose names are good without it")
        @Size(min = 1, max = TRUST_DOMAIN_LENGTH_MAX)
        String trustDomain) {
    public static final int CA_LENGTH_MAX = 16384;
    static final int TRUST_DOMAIN_LENGTH_MAX = 255;

    public CertificatesSpec {
        source = source == null ? CertificateSource.OPERATOR : source;
    }
}
