// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.peer;

import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.Locale;

/** Why a peer was refused; label {@code reason} of {@code kvpool_auth_refusals_total}. */
public enum Refusal {
    /** It speaks plain where TLS is required. */
    PLAINTEXT,
    /** It shows no certificate. */
    NO_CERTIFICATE,
    /** Its certificate is not valid now. */
    EXPIRED,
    /** Its certificate leads to no root that is trusted here. */
    UNTRUSTED,
    /** Its certificate has no name of kvpool. */
    NAME,
    /** Its certificate is of another pool. */
    TRUST_DOMAIN,
    /** Its certificate is for another role than it claims. */
    ROLE,
    /** Its certificate is for another name than it claims. */
    IDENTITY,
    /** Its token is not believed, or of a role that must have a certificate. */
    TOKEN,
    /** Its role does not have the right. */
    RIGHT,
    /** The newer certificate that it proves on its connection is not its own, or not good. */
    PROOF,
    /** It did not finish the handshake in time. */
    TIMEOUT,
    /** A bound of unfinished handshakes was reached. */
    LIMIT,
    /** The handshake failed otherwise. */
    HANDSHAKE;

    private static final int CAUSES_MAX = 16;

    /** As it stands in metrics. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** What made a handshake fail. */
    public static Refusal of(Throwable failure) {
        if (has(failure, CertificateExpiredException.class) || has(failure, CertificateNotYetValidException.class)) {
            return EXPIRED;
        }
        if (has(failure, CertPathBuilderException.class) || has(failure, CertPathValidatorException.class)) {
            return UNTRUSTED;
        }
        return String.valueOf(failure.getMessage()).contains("Empty client certificate chain")
                ? NO_CERTIFICATE
                : HANDSHAKE;
    }

    private static boolean has(Throwable failure, Class<? extends Throwable> type) {
        int depth = 0;
        for (Throwable each = failure; each != null && depth < CAUSES_MAX; each = each.getCause()) {
            if (type.isInstance(each)) {
                return true;
            }
            depth++;
        }
        return false;
    }
}
