// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.security;

import dev.kvpool.api.v1alpha1.security.CertificatesSpec;
import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.api.v1alpha1.security.ServiceAccountName;
import java.util.List;
import java.util.Optional;

/**
 * How secure the next pods of a pool are.
 *
 * @param masters mode of masters
 * @param members mode of storage nodes and agents
 * @param trust the certificate authority; empty where there is none
 * @param operator the ServiceAccount of the operator
 * @param directory where pods find certificates that others make; empty where there is a certificate authority, or shall be
 * @param present ServiceAccounts of storage pods that are there
 */
public record PoolSecurity(
        SecurityMode masters,
        SecurityMode members,
        Optional<PoolTrust> trust,
        ServiceAccountName operator,
        Optional<CertificatesSpec> directory,
        List<StorageAccount> present) {

    public PoolSecurity {
        present = List.copyOf(present);
    }

    /** Whether any process of the pool has a certificate. */
    public boolean isOn() {
        return masters.isOn() || members.isOn();
    }

    /** Whether pods cannot be made before there is a certificate authority. */
    public boolean awaitsAuthority() {
        return isOn() && directory.isEmpty() && trust.filter(PoolTrust::active).isEmpty();
    }

    /** The certificate authority that masters sign with. */
    public String fingerprint() {
        return trust.map(PoolTrust::fingerprint).orElseThrow();
    }

    /** PEM of what the pool's processes trust. */
    public String roots() {
        return directory
                .map(CertificatesSpec::ca)
                .or(() -> trust.map(PoolTrust::roots))
                .orElseThrow();
    }

    /** That of certificates of others that name ServiceAccounts; empty where those of this pool do not. */
    public Optional<String> trustDomain() {
        return directory.map(CertificatesSpec::trustDomain);
    }

    /** What command lines say for a mode. */
    public static String word(SecurityMode mode) {
        return switch (mode) {
            case OFF -> "off";
            case PERMISSIVE -> "permissive";
            case REQUIRED -> "required";
        };
    }
}
