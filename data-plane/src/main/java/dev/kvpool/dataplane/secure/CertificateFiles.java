// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.ForeignNames;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerNames;
import dev.kvpool.identity.text.Quoted;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.CertPathValidator;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECKey;
import java.security.interfaces.RSAKey;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The three files of a directory of certificates, and what other names stand for, as text of one moment.
 *
 * @param directory they come from, for messages
 * @param chain text of {@code tls.crt}
 * @param key text of {@code tls.key}
 * @param roots text of {@code ca.crt}
 * @param names text of the file of {@link ForeignNames}; empty where there is none
 */
record CertificateFiles(Path directory, String chain, String key, String roots, Optional<String> names) {
    static final String CHAIN_FILE = "tls.crt";
    static final String KEY_FILE = "tls.key";
    static final String ROOTS_FILE = "ca.crt";
    private static final String NAMES_FILE = "names";

    /** Behind the name of the directory: others fill that, and may leave no room in it. */
    private static final String NAMES_DIRECTORY = ".names";

    private static final int BYTES_MAX = 1 << 20;
    private static final int READS_MAX = 5;
    private static final int RSA_BITS_MIN = 2048;
    private static final int EC_BITS = 256;
    private static final String ISSUE = "`kvpool cert issue` makes such a directory";

    /**
     * Reads the files. They are read until two times in turn give the same, or the certificate of one rotation could come with the key of the next.
     *
     * @throws RefusedCertificateException when one is missing, unreadable or larger than 1 MiB
     */
    static CertificateFiles read(Path directory) throws RefusedCertificateException {
        CertificateFiles before = once(directory);
        for (int read = 1; read < READS_MAX; read++) {
            CertificateFiles now = once(directory);
            if (now.equals(before)) {
                return now;
            }
            before = now;
        }
        throw new RefusedCertificateException("the files of " + directory
                + " changed with every look; write new ones elsewhere and put them in place by a rename");
    }

    private static CertificateFiles once(Path directory) throws RefusedCertificateException {
        if (!Files.isDirectory(directory)) {
            throw new RefusedCertificateException("--tls-dir " + directory + " is no directory; " + ISSUE);
        }
        return new CertificateFiles(
                directory,
                text(directory.resolve(CHAIN_FILE)),
                text(directory.resolve(KEY_FILE)),
                text(directory.resolve(ROOTS_FILE)),
                names(namesOf(directory)));
    }

    /** Only where there is no file there are no rules: one that cannot be looked at may say who has a part in the pool no more. */
    private static Optional<String> names(Path file) throws RefusedCertificateException {
        byte[] bytes;
        try {
            bytes = bytes(file);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw unreadable(file, e);
        }
        return Optional.of(text(file, bytes));
    }

    private static Path namesOf(Path directory) {
        return directory
                .resolveSibling(directory.getFileName() + NAMES_DIRECTORY)
                .resolve(NAMES_FILE);
    }

    private static String text(Path file) throws RefusedCertificateException {
        byte[] bytes;
        try {
            bytes = bytes(file);
        } catch (NoSuchFileException e) {
            throw new RefusedCertificateException(file + " is missing; " + ISSUE, e);
        } catch (IOException e) {
            throw unreadable(file, e);
        }
        return text(file, bytes);
    }

    private static byte[] bytes(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return in.readNBytes(BYTES_MAX + 1);
        }
    }

    private static String text(Path file, byte[] bytes) throws RefusedCertificateException {
        if (bytes.length > BYTES_MAX) {
            throw new RefusedCertificateException(
                    file + " has more than " + BYTES_MAX + " bytes; is it what it should be?");
        }
        // What is no ASCII can only stand outside of the blocks, or is no base64.
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static RefusedCertificateException unreadable(Path file, IOException cause) {
        return new RefusedCertificateException(
                "cannot read " + file + ": " + cause + "; the user of this process must be able to", cause);
    }

    /**
     * Checks all three and what they say together.
     *
     * @throws RefusedCertificateException with the file, the cause and how to fix it
     */
    Credentials check(Instant now) throws RefusedCertificateException {
        List<X509Certificate> certificates = parse(CHAIN_FILE, () -> Pem.certificates(chain));
        PrivateKey privateKey = parse(KEY_FILE, () -> Pem.privateKey(key));
        List<X509Certificate> trusted = parse(ROOTS_FILE, () -> Pem.certificates(roots));
        X509Certificate leaf = certificates.getFirst();
        requireKeyKind(privateKey);
        requirePair(leaf, privateKey);
        requireTime(leaf, now);
        ForeignNames foreign = foreign();
        PeerName name = parse(CHAIN_FILE, () -> PeerNames.of(leaf, foreign));
        requirePath(certificates, trusted, now);
        return new Credentials(name, privateKey, certificates, trusted, foreign);
    }

    private ForeignNames foreign() throws RefusedCertificateException {
        try {
            return names.map(ForeignNames::parse).orElse(ForeignNames.NONE);
        } catch (IllegalArgumentException e) {
            throw new RefusedCertificateException(
                    namesOf(directory) + ": " + Quoted.cut(String.valueOf(e.getMessage())), e);
        }
    }

    private <T> T parse(String file, Supplier<T> parser) throws RefusedCertificateException {
        try {
            return parser.get();
        } catch (IllegalArgumentException e) {
            throw refused(file, Quoted.cut(String.valueOf(e.getMessage())) + "; " + ISSUE, e);
        }
    }

    private void requireKeyKind(PrivateKey privateKey) throws RefusedCertificateException {
        boolean good = switch (privateKey) {
            case ECKey ec -> ec.getParams().getOrder().bitLength() == EC_BITS;
            case RSAKey rsa -> rsa.getModulus().bitLength() >= RSA_BITS_MIN;
            default -> false;
        };
        if (!good) {
            throw refused(
                    KEY_FILE, "the key must be EC P-256, or RSA of at least " + RSA_BITS_MIN + " bits; " + ISSUE, null);
        }
    }

    private void requirePair(X509Certificate leaf, PrivateKey privateKey) throws RefusedCertificateException {
        if (!Pem.isPair(leaf, privateKey)) {
            throw refused(
                    KEY_FILE,
                    "the key does not belong to the first certificate of " + CHAIN_FILE
                            + ", which must be the leaf; replace both files together",
                    null);
        }
    }

    private void requireTime(X509Certificate leaf, Instant now) throws RefusedCertificateException {
        if (now.isAfter(leaf.getNotAfter().toInstant())) {
            throw refused(
                    CHAIN_FILE,
                    "the certificate expired at " + leaf.getNotAfter().toInstant() + "; issue a new one",
                    null);
        }
        if (now.isBefore(leaf.getNotBefore().toInstant())) {
            throw refused(
                    CHAIN_FILE,
                    "the certificate is valid from " + leaf.getNotBefore().toInstant() + ", and the clock here says "
                            + now + "; set the clock or issue a new one",
                    null);
        }
    }

    private void requirePath(List<X509Certificate> certificates, List<X509Certificate> trusted, Instant now)
            throws RefusedCertificateException {
        try {
            PKIXParameters parameters = new PKIXParameters(
                    trusted.stream().map(root -> new TrustAnchor(root, null)).collect(Collectors.toSet()));
            parameters.setRevocationEnabled(false);
            parameters.setDate(Date.from(now));
            var path = CertificateFactory.getInstance("X.509").generateCertPath(withoutRoots(certificates, trusted));
            CertPathValidator.getInstance("PKIX").validate(path, parameters);
        } catch (GeneralSecurityException e) {
            throw refused(
                    CHAIN_FILE,
                    "the certificate does not lead to a root in " + ROOTS_FILE + " ("
                            + Quoted.cut(String.valueOf(e.getMessage()))
                            + "); peers that trust the same roots would refuse it",
                    e);
        }
    }

    private static List<X509Certificate> withoutRoots(List<X509Certificate> chain, List<X509Certificate> roots) {
        Optional<X509Certificate> root =
                chain.stream().skip(1).filter(roots::contains).findFirst();
        return root.map(it -> chain.subList(0, chain.indexOf(it))).orElse(chain);
    }

    private RefusedCertificateException refused(String file, String why, Throwable cause) {
        return new RefusedCertificateException(directory.resolve(file) + ": " + why, cause);
    }

    @Override
    public String toString() {
        return "certificates of " + directory; // never the key
    }
}
