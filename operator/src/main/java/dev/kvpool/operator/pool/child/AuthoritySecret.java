// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;

/**
 * The key with which masters sign. The operator makes it, forgets what is in it, and has no right to read it.
 *
 * <p>It belongs to the {@link AuthorityConfigMap}, which the operator may delete; its own owner can never be changed.
 */
public final class AuthoritySecret {
    private static final String CERTIFICATE = "ca.crt";
    private static final String KEY = "ca.key";

    private AuthoritySecret() {}

    /**
     * Builds it.
     *
     * @param owner the {@link AuthorityConfigMap} as it is stored
     * @param certificate PEM
     * @param key PEM
     */
    public static Secret of(PoolNames names, ConfigMap owner, String fingerprint, String certificate, String key) {
        return new SecretBuilder()
                .withNewMetadata()
                .withName(names.authority(fingerprint))
                .withNamespace(names.namespace())
                .withLabels(owner.getMetadata().getLabels())
                .withOwnerReferences(new OwnerReferenceBuilder()
                        .withApiVersion("v1")
                        .withKind("ConfigMap")
                        .withName(owner.getMetadata().getName())
                        .withUid(owner.getMetadata().getUid())
                        .build())
                .endMetadata()
                .withType("Opaque")
                .withImmutable(true)
                .withData(Map.of(CERTIFICATE, encoded(certificate), KEY, encoded(key)))
                .build();
    }

    /** One of its name, by whose creation the API server is asked whether there is one. */
    public static Secret probe(PoolNames names, String fingerprint) {
        return new SecretBuilder()
                .withNewMetadata()
                .withName(names.authority(fingerprint))
                .withNamespace(names.namespace())
                .withLabels(PoolLabels.ofPool(names.pool()))
                .endMetadata()
                .build();
    }

    private static String encoded(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
    }
}
