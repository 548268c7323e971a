// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.fuzz.FuzzRuns;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.ForeignNames;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerNames;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Certificates, names and PEM files with anything in them; as {@link FuzzRuns} says. */
class NamesFuzzTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final List<String> NAMES =
            List.of("node/a", "operator", "tenant/default/rw/vllm.inference", "tenant/t/ro/r", "master/m-0");

    @Test
    void aNameIsReadAsItIsWrittenOrRefused() {
        List<byte[]> samples = NAMES.stream()
                .map(name -> ("spiffe://" + POOL + "/" + name).getBytes(StandardCharsets.UTF_8))
                .toList();
        int count = new FuzzRuns(samples, IllegalArgumentException.class)
                .allocating(256)
                .run(input -> {
                    String text = new String(input, StandardCharsets.ISO_8859_1);
                    assertThat(PeerName.parse(text).uri()).isEqualTo(text);
                });
        assertThat(count).isPositive();
    }

    /** Also with rules: a name of others stands for one of ours that has its parts. */
    @Test
    void aForeignNameIsReadOrRefused() {
        ForeignNames names = ForeignNames.parse(
                "pool " + POOL + "\ntrust-domain c.l\na/m master\na/s node\na/* tenant t ro\nb/x.y tenant u rw\n");
        List<byte[]> samples = Stream.of("a/sa/m", "a/sa/s", "a/sa/z.z", "b/sa/x.y")
                .map(name -> ("spiffe://c.l/ns/" + name).getBytes(StandardCharsets.UTF_8))
                .toList();
        int count = new FuzzRuns(samples, IllegalArgumentException.class)
                .allocating(256)
                .run(input -> {
                    String text = new String(input, StandardCharsets.ISO_8859_1);
                    PeerName name = names.name(text);
                    assertThat(text)
                            .isIn(
                                    name.uri(),
                                    "spiffe://c.l/ns/a/sa/m",
                                    "spiffe://c.l/ns/a/sa/s",
                                    "spiffe://c.l/ns/" + name.name().replaceFirst("[.]", "/sa/"));
                });
        assertThat(count).isPositive();
    }

    @Test
    void rulesOfForeignNamesAreReadOrRefused() {
        List<byte[]> samples = List.of(("pool " + POOL + "\ntrust-domain c.l\n#\na/m master\na/* tenant t ro\n")
                .getBytes(StandardCharsets.UTF_8));
        int count = new FuzzRuns(samples, IllegalArgumentException.class)
                .allocating(1024)
                .run(input -> ForeignNames.parse(new String(input, StandardCharsets.ISO_8859_1)));
        assertThat(count).isPositive();
    }

    @Test
    void aCertificateIsReadOrRefused() {
        CertificateAuthority authority = CertificateAuthority.create(POOL, Instant.now(), Duration.ofDays(1));
        List<byte[]> samples = Stream.concat(
                        Stream.of(encoded(authority.certificate())),
                        NAMES.stream()
                                .map(name -> encoded(authority
                                        .issue(
                                                PeerName.ofPath(POOL, name),
                                                List.of("a.example"),
                                                Instant.now(),
                                                Duration.ofHours(1))
                                        .certificate())))
                .toList();
        int count = new FuzzRuns(samples, IllegalArgumentException.class)
                .oneOf(4)
                .allocating(4096)
                .run(input -> PeerNames.principal(Pem.certificate(input), ForeignNames.NONE));
        assertThat(count).isPositive();
    }

    private static byte[] encoded(X509Certificate certificate) {
        try {
            return certificate.getEncoded();
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aFileOfCertificatesOrAKeyIsReadOrRefused() {
        CertificateAuthority authority = CertificateAuthority.create(POOL, Instant.now(), Duration.ofDays(1));
        CertificateAuthority.Issued issued =
                authority.issue(PeerName.ofPath(POOL, "node/a"), List.of(), Instant.now(), Duration.ofHours(1));
        List<byte[]> samples = Stream.of(
                        Pem.encode(issued.certificate()) + Pem.encode(authority.certificate()),
                        "text\n" + Pem.encodeKey(issued.key()))
                .map(text -> text.getBytes(StandardCharsets.US_ASCII))
                .toList();
        int count = new FuzzRuns(samples, IllegalArgumentException.class)
                .oneOf(8)
                .allocating(4096)
                .run(input -> {
                    String text = new String(input, StandardCharsets.ISO_8859_1);
                    if (text.contains("PRIVATE")) {
                        Pem.privateKey(text);
                    } else {
                        Pem.certificates(text);
                    }
                });
        assertThat(count).isPositive();
    }
}
