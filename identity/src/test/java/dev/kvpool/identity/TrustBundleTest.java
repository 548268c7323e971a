// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.TrustBundle;
import dev.kvpool.identity.name.PeerName;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class TrustBundleTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Instant NOW = Instant.parse("2026-11-01T12:00:00Z");
    private static final Duration YEAR = Duration.ofDays(365);

    private final CertificateAuthority old = CertificateAuthority.create(POOL, NOW, YEAR);
    private final CertificateAuthority next = CertificateAuthority.create(POOL, NOW, YEAR);
    private final X509Certificate first = old.certificate();
    private final X509Certificate second = next.certificate();

    @Test
    void theDigestIsOfTheRootsInAnyOrderAndOfNoOthers() {
        String both = new TrustBundle(List.of(first, second)).digest();

        assertThat(both).matches("[0-9a-f]{16}");
        assertThat(new TrustBundle(List.of(second, first, second)).digest()).isEqualTo(both);
        assertThat(new TrustBundle(List.of(first)).digest()).isNotEqualTo(both);
        assertThat(new TrustBundle(List.of(second)).digest()).isNotEqualTo(new TrustBundle(List.of(first)).digest());
    }

    /** Both have the same name: only the key tells them apart. */
    @Test
    void theSignerIsTheOneWhoseKeySigned() {
        TrustBundle both = new TrustBundle(List.of(first, second));
        X509Certificate leaf = next.issue(PeerName.ofPath(POOL, "node/a-0"), List.of(), NOW, Duration.ofHours(1))
                .certificate();

        assertThat(both.signerOf(leaf)).contains(second);
        assertThat(new TrustBundle(List.of(first)).signerOf(leaf)).isEmpty();
        assertThat(both.root(CertificateAuthority.fingerprint(first))).contains(first);
        assertThat(both.root("")).isEmpty();
    }

    @Test
    void whatIsWrittenIsReadAgain() {
        TrustBundle both = new TrustBundle(List.of(second, first, second));

        assertThat(TrustBundle.parse(both.pem())).isEqualTo(both);
        assertThat(both.roots()).containsExactly(second, first);
    }

    @Test
    void noRootsAreRefused() {
        assertThatThrownBy(() -> new TrustBundle(List.of())).hasMessageContaining("no root");
        assertThatThrownBy(() -> TrustBundle.parse("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> TrustBundle.parse(old.roots().substring(0, 99)))
                .hasMessageContaining("cut off");
    }
}
