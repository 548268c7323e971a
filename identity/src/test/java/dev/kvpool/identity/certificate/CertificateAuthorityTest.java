// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.certificate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerNames;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.CertPathValidator;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Date;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CertificateAuthorityTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private final Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    private static final Duration YEAR = Duration.ofDays(365);

    private final CertificateAuthority authority = CertificateAuthority.create(POOL, now, YEAR);

    @TempDir
    Path folder;

    @Test
    void whatItIssuesSaysWhoItIsForAndWhen() {
        PeerName name = PeerName.ofPath(POOL, "tenant/team-a/ro/reader");
        X509Certificate leaf = authority
                .issue(name, List.of("a.example", "b.example"), now, Duration.ofDays(1))
                .certificate();

        assertThat(PeerNames.of(leaf)).isEqualTo(name);
        assertThat(leaf.getNotBefore().toInstant()).isEqualTo(now.minusSeconds(300));
        assertThat(leaf.getNotAfter().toInstant()).isEqualTo(now.plus(Duration.ofDays(1)));
        assertThat(leaf.getSerialNumber().signum()).isPositive();
        assertThat(leaf.getSerialNumber().bitLength()).isEqualTo(127);
        assertThat(leaf.getBasicConstraints()).isEqualTo(-1);
        assertThat(leaf.getKeyUsage()).startsWith(true, false, false, false, false, false);
        assertThat(authority.certificate().getBasicConstraints()).isZero();
        assertThat(authority.certificate().getKeyUsage()).startsWith(false, false, false, false, false, true, true);
    }

    @Test
    void theJdksPathValidatorAcceptsIt() throws GeneralSecurityException {
        validate(leaf("node/a", YEAR), authority, now);
        validate(leaf("node/" + "a".repeat(63) + "." + "b".repeat(63) + "." + "c".repeat(63), YEAR), authority, now);
    }

    @Test
    void theJdksPathValidatorRefusesIt() {
        X509Certificate leaf = leaf("node/a", Duration.ofDays(1));
        CertificateAuthority other = CertificateAuthority.create(POOL, now, YEAR);
        for (ThrowingValidation bad : List.<ThrowingValidation>of(
                () -> validate(leaf, other, now),
                () -> validate(leaf, authority, now.plus(Duration.ofDays(2))),
                () -> validate(leaf, authority, now.minus(Duration.ofDays(2))))) {
            assertThatThrownBy(bad::run).isInstanceOf(CertPathValidatorException.class);
        }
    }

    private interface ThrowingValidation {
        void run() throws GeneralSecurityException;
    }

    @Test
    void opensslAcceptsIt() throws IOException, InterruptedException {
        assumeTrue(isThere("openssl"), "no openssl command here");
        CertificateAuthority.Issued issued =
                authority.issue(PeerName.ofPath(POOL, "node/a"), List.of("a.example"), now, YEAR);
        String ca = file("ca.crt", authority.roots());
        String leaf = file("tls.crt", Pem.encode(issued.certificate()));
        for (String purpose : List.of("sslserver", "sslclient")) {
            assertThat(openssl("verify", "-x509_strict", "-purpose", purpose, "-CAfile", ca, leaf))
                    .contains("tls.crt: OK");
        }
        assertThat(openssl("x509", "-in", leaf, "-noout", "-text"))
                .contains("URI:spiffe://" + POOL + "/node/a")
                .contains("DNS:a.example")
                .contains("Version: 3")
                .contains("prime256v1");
        assertThat(openssl("pkey", "-in", file("tls.key", Pem.encodeKey(issued.key())), "-noout", "-check"))
                .contains("Key is valid");
        String other =
                file("other.crt", CertificateAuthority.create(POOL, now, YEAR).roots());
        assertThat(openssl("verify", "-CAfile", other, leaf)).contains("verification failed");
    }

    private String file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text).toString();
    }

    @Test
    void aCaSaysWhosePoolItIsOf() {
        assertThat(CertificateAuthority.poolId(authority.certificate())).isEqualTo(POOL);
        X509Certificate leaf = leaf("node/a", YEAR);
        assertThatThrownBy(() -> CertificateAuthority.poolId(leaf)).hasMessageContaining("is no CA of a pool");
    }

    @Test
    void aFingerprintIsTheBeginningOfTheDigestThatOpensslPrints() throws IOException, InterruptedException {
        assumeTrue(isThere("openssl"), "no openssl command here");
        String printed = openssl("x509", "-in", file("ca.crt", authority.roots()), "-noout", "-fingerprint", "-sha256");
        assertThat(printed.replace(":", "").toLowerCase(Locale.ROOT))
                .contains("=" + CertificateAuthority.fingerprint(authority.certificate()));
        assertThat(CertificateAuthority.fingerprint(authority.certificate())).hasSize(16);
    }

    @Test
    void nothingOutlivesItsCa() {
        assertThat(leaf("node/a", Duration.ofDays(3650)).getNotAfter())
                .isEqualTo(authority.certificate().getNotAfter());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"2049-12-31T23:59:59Z", "2050-01-01T00:00:00Z", "2050-01-01T00:04:59Z", "2099-06-30T12:00:00Z"})
    void yearsFrom2050OnAreWrittenInFull(String end) {
        Instant until = Instant.parse(end);
        X509Certificate certificate = CertificateAuthority.create(POOL, now, Duration.between(now, until))
                .certificate();
        assertThat(certificate.getNotAfter().toInstant()).isEqualTo(until);
    }

    @Test
    void namesOfOtherPoolsAreNotIssued() {
        PeerName foreign = PeerName.ofPath(new UUID(1, 1), "node/a");
        assertThatThrownBy(() -> authority.issue(foreign, List.of(), now, YEAR)).hasMessageContaining("is not of pool");
    }

    @ParameterizedTest
    @CsvSource({"0, 020100", "127, 02017f", "128, 02020080", "256, 02020100", "255, 020200ff"})
    void integersKeepTheirSign(int value, String hex) {
        assertThat(hex(Der.integer(BigInteger.valueOf(value)))).isEqualTo(hex);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0400",
        "127, 047f",
        "128, 048180",
        "255, 0481ff",
        "256, 04820100",
        "65535, 0482ffff",
        "65536, 0483010000"
    })
    void lengthsAreAsShortAsTheyCanBe(int length, String hex) {
        assertThat(hex(Der.octets(new byte[length]))).startsWith(hex).hasSize(hex.length() + 2 * length);
    }

    @ParameterizedTest
    @CsvSource({
        "2.5.29.17, 0603551d11",
        "1.2.840.10045.4.3.2, 06082a8648ce3d040302",
        "2.999.1, 0603883701",
        "1.3.6.1.5.5.7.3.1, 06082b06010505070301"
    })
    void objectIdentifiers(String dotted, String hex) {
        assertThat(hex(Der.oid(dotted))).isEqualTo(hex);
    }

    private X509Certificate leaf(String path, Duration life) {
        return authority
                .issue(PeerName.ofPath(POOL, path), List.of(), now, life)
                .certificate();
    }

    private static void validate(X509Certificate leaf, CertificateAuthority by, Instant at)
            throws GeneralSecurityException {
        PKIXParameters parameters = new PKIXParameters(Set.of(new TrustAnchor(by.certificate(), null)));
        parameters.setRevocationEnabled(false);
        parameters.setDate(Date.from(at));
        CertPathValidator.getInstance("PKIX")
                .validate(CertificateFactory.getInstance("X.509").generateCertPath(List.of(leaf)), parameters);
    }

    private static boolean isThere(String command) {
        for (String directory : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
            if (Files.isExecutable(Path.of(directory, command))) {
                return true;
            }
        }
        return false;
    }

    private String openssl(String... arguments) throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(concat(arguments)).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return said;
    }

    private static List<String> concat(String... arguments) {
        List<String> all = new ArrayList<>(List.of("openssl"));
        all.addAll(List.of(arguments));
        return all;
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
