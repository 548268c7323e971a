// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.TrustBundle;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.operator.pool.DirectorySpec;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.status.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CertificateCheckTest {
    private static final String OPERATORS = "{storage: [{name: a, capacity: 1Gi}], transferEngine: demo}";

    private static final String INTERMEDIATE = """
            -----BEGIN CERTIFICATE-----
            MIIBajCCARCgAwIBAgIBAjAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDARyb290MCAX
            DTI2MTEyOTAzMzU1MloYDzIxMjYxMTA1MDMzNTUyWjAXMRUwEwYDVQQDDAxpbnRl
            cm1lZGlhdGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQURmoishjNfQVgSh2A
            DAJUIBrVGo1ryVopzuYtkq8DeF9xrYT/J1mcMiE6R64acpVLEbe6rtPRRfKaZ2dJ
            e/Wto1MwUTAPBgNVHRMBAf8EBTADAQH/MB0GA1UdDgQWBBQdk8OTFtoBIKh6Chz9
            QdceyRuKnTAfBgNVHSMEGDAWgBSriO0WAz+g3EYa9mAh9yVk6kEC7TAKBggqhkjO
            PQQDAgNIADBFAiAnC7F4coCkyZq0UL0xP9PWZmDouUDD7f3TbJZt/noeMwIhAMG5
            7MlPzzsQSIXP5M6DAgveNPPRuvOthFBXf+TODnYa
            -----END CERTIFICATE-----
            """;

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

    /** Pods of before would not know the names of those made after. */
    @ParameterizedTest
    @CsvSource({"cluster.local, true", "example.org, false", "'', false"})
    void mastersThatKnowOtherNamesGoFirst(String known, boolean isFine) {
        Map<String, String> notes = known.isEmpty()
                ? Map.of(PoolLabels.CERTIFICATES, PoolLabels.OF_DIRECTORY)
                : Map.of(PoolLabels.CERTIFICATES, PoolLabels.OF_DIRECTORY, PoolLabels.TRUST_DOMAIN, known);
        PoolSketch sketch = sketch(DirectorySpec.named("cluster.local"))
                .pod(DirectorySpec.pod("demo-master-0", PoolLabels.ROLE_MASTER, notes, ""));

        if (isFine) {
            assertThat(CertificateCheck.of(sketch.observation())).isEmpty();
        } else {
            assertRefused(sketch, "trustDomain has changed while demo-master-0 still knew");
        }
    }

    /** OpenSSL takes no other end of a chain. */
    @Test
    void theRootHasSignedItself() {
        UUID pool = UUID.fromString(PoolSketch.UID);
        String leaf = new TrustBundle(List.of(CertificateAuthority.create(pool, PoolSketch.NOON, Duration.ofDays(365))
                        .issue(
                                PeerName.parse("spiffe://" + pool + "/master/demo-master-0"),
                                List.of(),
                                PoolSketch.NOON,
                                Duration.ofDays(1))
                        .certificate()))
                .pem();

        assertRefused(
                sketch(DirectorySpec.secrets(DirectorySpec.quoted(leaf))),
                "ca is no root: it may sign no certificates");
        assertRefused(
                sketch(DirectorySpec.secrets(DirectorySpec.quoted(INTERMEDIATE))),
                "ca is no root: it was signed by another authority, CN=root.");
    }

    /** They would not know each other. Masters of an operator that noted no authority have its certificates. */
    @ParameterizedTest
    @CsvSource({
        "true, kvpool.dev/certificates, directory, true",
        "true, kvpool.dev/ca, 7581fe2f9e6cae58, false",
        "true, other, '', false",
        "false, kvpool.dev/certificates, directory, false",
        "false, kvpool.dev/ca, 7581fe2f9e6cae58, true",
        "false, other, '', true"
    })
    void mastersWithCertificatesOfTheOtherSourceGoFirst(
            boolean isDirectory, String note, String value, boolean isFine) {
        PoolSketch sketch = sketch(isDirectory ? DirectorySpec.csi() : OPERATORS)
                .pod(DirectorySpec.pod("demo-master-0", PoolLabels.ROLE_MASTER, Map.of(note, value), ""));

        if (isFine) {
            assertThat(CertificateCheck.of(sketch.observation())).isEmpty();
        } else {
            assertRefused(sketch, "has changed while demo-master-0 still had certificates of the other source");
        }
    }
}
