// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import dev.kvpool.dataplane.secure.CredentialSource;
import dev.kvpool.dataplane.secure.Credentials;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.ForeignNames;
import dev.kvpool.identity.name.PeerName;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The certificate of a process that has the CA, signed by itself and kept in memory only: another one at half of its life, and at once when the CA or the
 * roots beside it change. The process's own name is in it as a host too, for programs that know no names of pools, such as curl.
 */
public final class OwnCertificate implements CredentialSource {
    private final Supplier<CertificateAuthority> authority;
    private final PeerName name;
    private final Duration wanted;
    private final InstantSource clock;
    private CertificateAuthority signedBy;
    private final LongSupplier uptimeMs;
    private X509Certificate signed;
    private long signedAtMs;
    private Duration life = Duration.ZERO;

    /**
     * Signs nothing yet.
     *
     * @param authority as it is now
     * @param name of this process, of the CA's pool
     * @param life of each certificate
     * @param uptimeMs milliseconds of a clock that is never set
     */
    public OwnCertificate(
            Supplier<CertificateAuthority> authority,
            PeerName name,
            Duration life,
            InstantSource clock,
            LongSupplier uptimeMs) {
        this.authority = authority;
        this.name = name;
        this.wanted = life;
        this.clock = clock;
        this.uptimeMs = uptimeMs;
    }

    @Override
    public Optional<Credentials> look() {
        CertificateAuthority signing = authority.get();
        Instant now = clock.instant();
        boolean isSame = signedBy != null && signing.roots().equals(signedBy.roots());
        if (isSame && !isDue(now, signing)) {
            return Optional.empty();
        }
        CertificateAuthority.Issued issued = signing.issue(name, List.of(name.name()), now, wanted);
        signedBy = signing;
        signed = issued.certificate();
        signedAtMs = uptimeMs.getAsLong();
        life = Duration.between(now, signed.getNotAfter().toInstant());
        return Optional.of(new Credentials(
                name,
                issued.key(),
                List.of(issued.certificate()),
                Pem.certificates(signing.roots()),
                ForeignNames.NONE));
    }

    /**
     * Half of its life is over, by either clock, and the CA lives long enough for another one to end later; or it is not valid yet, since it was signed
     * while the clock was ahead.
     */
    private boolean isDue(Instant now, CertificateAuthority signing) {
        if (now.isBefore(signed.getNotBefore().toInstant())) {
            return true;
        }
        Instant end = signed.getNotAfter().toInstant();
        Duration half = life.dividedBy(2);
        boolean isHalfOver = uptimeMs.getAsLong() - signedAtMs >= half.toMillis() || !now.isBefore(end.minus(half));
        return isHalfOver && signing.certificate().getNotAfter().toInstant().isAfter(end);
    }
}
