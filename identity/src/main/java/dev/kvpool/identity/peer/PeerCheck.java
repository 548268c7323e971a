// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.peer;

import dev.kvpool.identity.name.ForeignNames;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerNames;
import dev.kvpool.identity.name.Principal;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Instant;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/** Who is at the other end of a connection whose handshake is done. The chain was checked by then; its name was not. */
public final class PeerCheck {
    private PeerCheck() {}

    /**
     * The peer.
     *
     * @param own name of this process: a peer must be of the same trust domain
     * @param foreign what certificates of others stand for
     * @throws RefusedPeerException when it has no certificate, or one that is not of this pool
     */
    public static Principal principal(SSLSession session, PeerName own, ForeignNames foreign, Instant now)
            throws RefusedPeerException {
        try {
            return principal(session.getPeerCertificates(), own, foreign, now);
        } catch (SSLPeerUnverifiedException e) {
            throw new RefusedPeerException(
                    Refusal.NO_CERTIFICATE, "no certificate was shown; give a directory made by `kvpool cert issue`");
        }
    }

    /**
     * The peer that has shown this chain, which was checked.
     *
     * @throws RefusedPeerException when it is not of this pool
     */
    public static Principal principal(Certificate[] chain, PeerName own, ForeignNames foreign, Instant now)
            throws RefusedPeerException {
        Principal principal = named(chain, foreign, now);
        if (!principal.name().trustDomain().equals(own.trustDomain())) {
            throw new RefusedPeerException(
                    Refusal.TRUST_DOMAIN,
                    "the certificate is of " + principal.name().uri() + ", this process is " + own.uri()
                            + "; check the addresses and the certificate");
        }
        return principal;
    }

    private static Principal named(Certificate[] chain, ForeignNames foreign, Instant now) throws RefusedPeerException {
        X509Certificate leaf = (X509Certificate) chain[0];
        Principal principal;
        try {
            principal = PeerNames.principal(leaf, foreign);
        } catch (IllegalArgumentException e) {
            throw new RefusedPeerException(Refusal.NAME, e.getMessage());
        }
        if (now.toEpochMilli() > principal.notAfterMs()) { // a resumed session does not look again
            throw new RefusedPeerException(
                    Refusal.EXPIRED,
                    "the certificate of " + principal + " expired at "
                            + leaf.getNotAfter().toInstant());
        }
        return principal;
    }

    /** Serial number of the peer's certificate, in hexadecimal digits, for logs; empty when it has shown none. */
    public static String serial(SSLSession session) {
        try {
            return ((X509Certificate) session.getPeerCertificates()[0])
                    .getSerialNumber()
                    .toString(16);
        } catch (SSLPeerUnverifiedException e) {
            return "";
        }
    }
}
