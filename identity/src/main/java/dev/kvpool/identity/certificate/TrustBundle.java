// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.certificate;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.cert.X509Certificate;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The roots that a process trusts, without duplicates. While a pool changes from one certificate authority to the next there are two; the first is
 * the one that certificates should be of.
 *
 * @param roots at least one
 */
public record TrustBundle(List<X509Certificate> roots) {
    private static final int DIGEST_BYTES = 8;

    public TrustBundle {
        if (roots.isEmpty()) {
            throw new IllegalArgumentException("there is no root in it");
        }
        Map<String, X509Certificate> distinct = new LinkedHashMap<>();
        roots.forEach(root -> distinct.putIfAbsent(CertificateAuthority.fingerprint(root), root));
        roots = List.copyOf(distinct.values());
    }

    /**
     * Reads PEM.
     *
     * @throws IllegalArgumentException when there is no certificate, or something that is none
     */
    public static TrustBundle parse(String pem) {
        return new TrustBundle(Pem.certificates(pem));
    }

    /** As text. */
    public String pem() {
        return roots.stream().map(Pem::encode).collect(Collectors.joining());
    }

    /** By their order, what tells these roots apart. */
    public List<String> fingerprints() {
        return roots.stream().map(CertificateAuthority::fingerprint).toList();
    }

    /** First 16 hexadecimal digits of a SHA-256, the same for the same roots in any order. */
    public String digest() {
        String sorted = fingerprints().stream().sorted().collect(Collectors.joining("\n"));
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(sorted.getBytes(StandardCharsets.US_ASCII));
            return HexFormat.of().formatHex(digest, 0, DIGEST_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The root that has signed a certificate; empty when none of these has. */
    public Optional<X509Certificate> signerOf(X509Certificate leaf) {
        return roots.stream().filter(root -> hasSigned(root, leaf)).findFirst();
    }

    /** The root with this fingerprint. */
    public Optional<X509Certificate> root(String fingerprint) {
        return roots.stream()
                .filter(root -> CertificateAuthority.fingerprint(root).equals(fingerprint))
                .findFirst();
    }

    private static boolean hasSigned(X509Certificate root, X509Certificate leaf) {
        try {
            leaf.verify(root.getPublicKey());
            return true;
        } catch (GeneralSecurityException e) { // another one has
            return false;
        }
    }
}
