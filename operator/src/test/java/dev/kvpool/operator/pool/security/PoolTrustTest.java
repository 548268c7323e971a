// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.operator.pool.ActiveTrust;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PoolTrustTest {
    @Test
    void itIsNamedByTheFingerprintOfItsFirstCertificate() {
        PoolTrust trust = PoolTrust.of(ActiveTrust.configMap());

        assertThat(trust.isIntact()).isTrue();
        assertThat(trust.fingerprint())
                .isEqualTo(CertificateAuthority.fingerprint(
                        Pem.certificates(trust.roots()).getFirst()));
    }

    @Test
    void whatIsWrittenIsReadAgain() {
        PoolTrust trust = PoolTrust.of(ActiveTrust.configMap());
        ConfigMap map = new ConfigMapBuilder()
                .withNewMetadata()
                .withAnnotations(trust.notes())
                .withResourceVersion(trust.version())
                .withUid(trust.uid())
                .endMetadata()
                .withData(Map.of(PoolTrust.ROOTS, trust.roots()))
                .build();

        assertThat(PoolTrust.of(map)).isEqualTo(trust);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "x",
                "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
                "-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n",
                "-----BEGIN CERTIFICATE-----\nMIIC\n"
            })
    void aTextThatIsNoCertificateIsNotTheOneMeant(String roots) {
        ConfigMap map = ActiveTrust.configMap();
        map.setData(Map.of(PoolTrust.ROOTS, roots));

        assertThat(PoolTrust.of(map).isIntact()).isFalse();
    }

    @Test
    void aConfigMapThatSaysNothingIsNoActiveAuthority() {
        ConfigMap map = new ConfigMapBuilder()
                .withNewMetadata()
                .withName("demo-trust")
                .endMetadata()
                .build();

        PoolTrust trust =
                PoolTrust.among(List.of(map), new PoolNames("demo", "ns")).orElseThrow();

        assertThat(trust).isEqualTo(PoolTrust.none());
        assertThat(trust.isIntact()).isFalse();
    }
}
