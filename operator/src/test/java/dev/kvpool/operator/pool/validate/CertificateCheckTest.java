// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.DirectorySpec;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.status.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CertificateCheckTest {
    private static final String OPERATORS = "{storage: [{name: a, capacity: 1Gi}], transferEngine: demo}";

    private static PoolSketch sketch(String spec) {
        return new PoolSketch(spec).engine("{}");
    }

    private static void assertRefused(PoolSketch sketch, String sentence) {
        assertThat(CertificateCheck.of(sketch.observation())).singleElement().satisfies(problem -> {
            assertThat(problem.reason()).isEqualTo(Reason.CERTIFICATES_DO_NOT_FIT);
            assertThat(problem.message()).contains(sentence);
        });
    }

    @Test
    void eachSourceIsFineAlone() {
        assertThat(CertificateCheck.of(sketch(DirectorySpec.csi()).observation()))
                .isEmpty();
        assertThat(CertificateCheck.of(
                        sketch(DirectorySpec.secrets(DirectorySpec.root())).observation()))
                .isEmpty();
        assertThat(CertificateCheck.of(sketch(OPERATORS).engine("{agents: {}}").observation()))
                .isEmpty();
    }

    @Test
    void mastersAreKnownByOneRoot() {
        String one = DirectorySpec.root();
        String twice = one.substring(0, one.length() - 1) + one.substring(1);

        assertRefused(sketch(DirectorySpec.secrets(twice)), "has 2 certificates, and must have one");
        assertRefused(sketch(DirectorySpec.secrets("\"-----BEGIN CERTIFICATE-----\\nAA\"")), "ca is no certificate: ");
    }

    @Test
    void agentsGetTheirCertificatesOfMastersOnly() {
        assertRefused(sketch(DirectorySpec.csi()).engine("{agents: {}}"), "TransferEngine demo has agents");
    }

    /** They would not know each other. */
    @ParameterizedTest
    @CsvSource({"true, '', true", "true, 7581fe2f9e6cae58, false", "false, '', false", "false, 7581fe2f9e6cae58, true"})
    void podsWithCertificatesOfTheOtherSourceGoFirst(boolean isDirectory, String authority, boolean isFine) {
        PoolSketch sketch = sketch(isDirectory ? DirectorySpec.csi() : OPERATORS)
                .pod(DirectorySpec.pod("demo-master-0", PoolLabels.ROLE_MASTER, authority, ""));

        if (isFine) {
            assertThat(CertificateCheck.of(sketch.observation())).isEmpty();
        } else {
            assertRefused(sketch, "has changed while demo-master-0 still had certificates of the other source");
        }
    }
}
