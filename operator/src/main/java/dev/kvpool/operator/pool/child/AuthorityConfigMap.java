// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import java.security.cert.X509Certificate;
import java.util.Map;

/**
 * The certificate of one certificate authority, and the owner of the Secret with its key: the operator, which may not delete Secrets, deletes this.
 * It belongs to the ConfigMap POOL-trust, which goes with the pool or stays as spec.deletionPolicy says.
 */
public final class AuthorityConfigMap {
    private AuthorityConfigMap() {}

    /**
     * Builds it.
     *
     * @param trust ConfigMap POOL-trust as it is stored
     */
    public static ConfigMap of(PoolNames names, ConfigMap trust, X509Certificate certificate) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withName(names.authority(CertificateAuthority.fingerprint(certificate)))
                .withNamespace(names.namespace())
                .withLabels(trust.getMetadata().getLabels())
                .withOwnerReferences(new OwnerReferenceBuilder()
                        .withApiVersion("v1")
                        .withKind("ConfigMap")
                        .withName(trust.getMetadata().getName())
                        .withUid(trust.getMetadata().getUid())
                        .build())
                .endMetadata()
                .withData(Map.of("ca.crt", Pem.encode(certificate)))
                .build();
    }
}
