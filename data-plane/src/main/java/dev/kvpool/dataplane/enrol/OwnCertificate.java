// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import dev.kvpool.dataplane.secure.CredentialSource;
import dev.kvpool.dataplane.secure.Credentials;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.PeerName;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The certificate of a process that has the CA, signed by itself and kept in memory only: for 24 h, another one at half of its life, and at once when
 * the CA or the roots beside it change.
 */
public final class OwnCertificate implements CredentialSource {
    static final Duration LIFE = Duration.ofHours(24);

    private final Supplier<CertificateAuthority> authority;
    private final PeerName name;
    private final InstantSource clock;
    private CertificateAuthority signedBy;
    private Instant signedAt = Instant.MIN;
    private Instant notAfter = Instant.MIN;

    /**
     * Signs nothing yet.
     *
     * @param authority as it is now
     * @param name of this process, of the CA's pool
     */
    public OwnCertificate(Supplier<CertificateAuthority> authority, PeerName name, InstantSource clock) {
        this.authority = authority;
        this.name = name;
        this.clock = clock;
    }

    @Override
    public Optional<Credentials> look() {
        CertificateAuthority signing = authority.get();
        Instant now = clock.instant();
        boolean isSame = signedBy != null && signing.roots().equals(signedBy.roots());
        if (isSame && !isDue(now, signing)) {
            return Optional.empty();
        }
        CertificateAuthority.Issued issued = signing.issue(name, List.of(), now, LIFE);
        signedBy = signing;
        signedAt = now;
        notAfter = issued.certificate().getNotAfter().toInstant();
        return Optional.of(
                new Credentials(name, issued.key(), List.of(issued.certificate()), Pem.certificates(signing.roots())));
    }

    /** Half of its life is over, and the CA lives long enough for another one to end later. */
    private boolean isDue(Instant now, CertificateAuthority signing) {
        Instant half = signedAt.plus(Duration.between(signedAt, notAfter).dividedBy(2));
        return !now.isBefore(half)
                && signing.certificate().getNotAfter().toInstant().isAfter(notAfter);
    }
}
