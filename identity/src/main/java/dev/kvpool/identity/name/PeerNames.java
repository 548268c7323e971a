// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.name;

import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;

/** Finds the name in a certificate. Other SANs (DNS names, for HTTP clients) and the CN say nothing about who a peer is. */
public final class PeerNames {
    private static final int URI = 6;

    private PeerNames() {}

    /**
     * The name of a certificate whose signatures were checked.
     *
     * @throws IllegalArgumentException when it has not exactly one URI SAN, or one that is no name of kvpool
     */
    public static PeerName of(X509Certificate certificate) {
        return of(certificate, ForeignNames.NONE);
    }

    /**
     * As {@link #of(X509Certificate)}, also of a certificate of others.
     *
     * @param foreign what those stand for
     */
    public static PeerName of(X509Certificate certificate, ForeignNames foreign) {
        List<String> uris = uris(certificate);
        if (uris.size() != 1) {
            throw new IllegalArgumentException(
                    "the certificate has " + uris.size() + " URI SANs where exactly one must say who it is for");
        }
        return foreign.name(uris.getFirst());
    }

    /** Who has shown this certificate. */
    public static Principal principal(X509Certificate certificate, ForeignNames foreign) {
        return new Principal(
                of(certificate, foreign), certificate.getNotAfter().toInstant().toEpochMilli());
    }

    private static List<String> uris(X509Certificate certificate) {
        try {
            Collection<List<?>> names = certificate.getSubjectAlternativeNames();
            return names == null
                    ? List.of()
                    : names.stream()
                            .filter(name -> name.get(0).equals(URI))
                            .map(name -> (String) name.get(1))
                            .toList();
        } catch (CertificateParsingException
                | RuntimeException e) { // the JDK throws others for addresses of wrong lengths
            throw new IllegalArgumentException("the names of the certificate cannot be read: " + e.getMessage(), e);
        }
    }
}
