// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.secure.Credentials;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerNames;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class OwnCertificateTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final PeerName NAME = PeerName.ofPath(POOL, "master/m-0");
    private static final Instant START = Instant.parse("2026-11-01T12:00:00Z");

    private Instant now = START;
    private long uptimeMs = 7;
    private CertificateAuthority authority = CertificateAuthority.create(POOL, START, Duration.ofDays(365));
    private final OwnCertificate own =
            new OwnCertificate(() -> authority, NAME, Duration.ofHours(24), () -> now, () -> uptimeMs);

    @Test
    void theFirstLookSigns() throws Exception {
        Credentials first = own.look().orElseThrow();
        assertThat(PeerNames.of(first.chain().getFirst())).isEqualTo(NAME);
        assertThat(Pem.isPair(first.chain().getFirst(), first.key())).isTrue();
        assertThat(first.notAfter()).isEqualTo(START.plus(Duration.ofHours(24)));
        assertThat(first.roots()).containsExactly(authority.certificate());
        first.chain().getFirst().verify(authority.certificate().getPublicKey());
        assertThat(first.chain().getFirst().getSubjectAlternativeNames())
                .as("URI and host")
                .extracting(entry -> entry.getLast().toString())
                .containsExactly("spiffe://" + POOL + "/" + NAME.path(), NAME.name());
    }

    @Test
    void anotherOneIsSignedAtHalfOfItsLifeAndNotBefore() {
        own.look();
        now = START.plus(Duration.ofHours(12)).minusSeconds(1);
        assertThat(own.look()).isEmpty();
        now = START.plus(Duration.ofHours(12));
        assertThat(own.look().orElseThrow().notAfter()).isEqualTo(START.plus(Duration.ofHours(36)));
        assertThat(own.look()).isEmpty();
    }

    @Test
    void aNewCaSignsAtOnce() throws Exception {
        own.look();
        authority = CertificateAuthority.create(POOL, START, Duration.ofDays(365));
        Credentials next = own.look().orElseThrow();
        next.chain().getFirst().verify(authority.certificate().getPublicKey());
        assertThat(next.roots()).containsExactly(authority.certificate());
    }

    @Test
    void atTheEndOfTheCaNothingIsSignedOverAndOver() {
        authority = CertificateAuthority.create(POOL, START, Duration.ofHours(10));
        assertThat(own.look().orElseThrow().notAfter()).isEqualTo(START.plus(Duration.ofHours(10)));
        now = START.plus(Duration.ofHours(9));
        assertThat(own.look()).isEmpty();
    }

    /** As on a machine whose clock is set by the network only after its pods have started. */
    @Test
    void oneThatWasSignedWithTheClockADayAheadIsReplacedWhenItIsSetBack() {
        now = START.plus(Duration.ofDays(1));
        own.look();
        now = START;
        Credentials next = own.look().orElseThrow();
        assertThat(next.notAfter()).isEqualTo(START.plus(Duration.ofHours(24)));
        assertThat(next.chain().getFirst().getNotBefore().toInstant()).isBefore(START);
        assertThat(own.look()).isEmpty();
    }

    @Test
    void timeThatPassesCountsWhateverTheClockSays() {
        own.look();
        now = START.minusSeconds(60);
        uptimeMs += Duration.ofHours(12).toMillis() - 1;
        assertThat(own.look()).isEmpty();
        uptimeMs++;
        now = START.plusSeconds(60);
        assertThat(own.look()).isPresent();
        assertThat(own.look()).isEmpty();
    }
}
