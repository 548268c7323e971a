// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cert;

import dev.kvpool.dataplane.secure.RefusedCertificateException;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/**
 * A CA in files: {@code ca.crt}, which everybody may read, and {@code ca.key}, which only its owner may. The first certificate is the CA's; further
 * ones, such as that of the CA before, go to all that it gives certificates to, as do those of {@code roots.crt}, which need not be there.
 */
public final class AuthorityDirectory {
    public static final String CERTIFICATE_FILE = "ca.crt";
    public static final String KEY_FILE = "ca.key";
    private static final String ROOTS_FILE = "roots.crt";
    private static final int BYTES_MAX = 1 << 20;

    private AuthorityDirectory() {}

    /**
     * Writes a new CA. One that is there is never overwritten: all its certificates would be worthless.
     *
     * @throws IOException when there is one, or the directory cannot be written; the message names the file
     */
    public static void write(Path directory, CertificateAuthority authority) throws IOException {
        Path certificate = directory.resolve(CERTIFICATE_FILE);
        Path key = directory.resolve(KEY_FILE);
        for (Path file : List.of(certificate, key)) {
            if (Files.exists(file)) {
                throw new IOException(file
                        + " exists already, and is not overwritten: certificates that it has issued would be refused;"
                        + " choose another directory, or remove it");
            }
        }
        PrivateFiles.directory(directory);
        PrivateFiles.writePrivate(key, Pem.encodeKey(authority.key()));
        PrivateFiles.writePublic(certificate, Pem.encode(authority.certificate()));
    }

    /**
     * Reads a CA.
     *
     * @throws RefusedCertificateException with the file, the cause and how to fix it
     */
    public static CertificateAuthority read(Path directory, Instant now) throws RefusedCertificateException {
        return Text.read(directory).parse(now);
    }

    /**
     * The files of a CA as they are at a moment, for those that look again and again.
     *
     * @param directory they come from, for messages
     * @param certificates text of {@code ca.crt}
     * @param key text of {@code ca.key}
     * @param further text of {@code roots.crt}; empty where there is none
     */
    public record Text(Path directory, String certificates, String key, String further) {
        /**
         * Reads them.
         *
         * @throws RefusedCertificateException when one is missing, unreadable or larger than 1 MiB
         */
        public static Text read(Path directory) throws RefusedCertificateException {
            Path further = directory.resolve(ROOTS_FILE);
            return new Text(
                    directory,
                    text(directory.resolve(CERTIFICATE_FILE)),
                    text(directory.resolve(KEY_FILE)),
                    Files.notExists(further) ? "" : text(further));
        }

        /**
         * Checks what they say.
         *
         * @throws RefusedCertificateException with the file, the cause and how to fix it
         */
        public CertificateAuthority parse(Instant now) throws RefusedCertificateException {
            CertificateAuthority own = authority(directory, certificates, key, now);
            return further.isEmpty() ? own : own.trusting(further(directory.resolve(ROOTS_FILE)));
        }

        private List<X509Certificate> further(Path file) throws RefusedCertificateException {
            try {
                return Pem.certificates(further);
            } catch (IllegalArgumentException e) {
                throw new RefusedCertificateException(file + ": " + e.getMessage(), e);
            }
        }

        @Override
        public String toString() {
            return "CA of " + directory; // never the key
        }
    }

    private static CertificateAuthority authority(Path directory, String certificateText, String keyText, Instant now)
            throws RefusedCertificateException {
        Path certificateFile = directory.resolve(CERTIFICATE_FILE);
        Path keyFile = directory.resolve(KEY_FILE);
        List<X509Certificate> certificates;
        try {
            certificates = Pem.certificates(certificateText);
        } catch (IllegalArgumentException e) {
            throw new RefusedCertificateException(certificateFile + ": " + e.getMessage(), e);
        }
        X509Certificate certificate = certificates.getFirst();
        UUID poolId = poolId(certificateFile, certificate);
        PrivateKey key;
        try {
            key = Pem.privateKey(keyText);
        } catch (IllegalArgumentException e) {
            throw new RefusedCertificateException(keyFile + ": " + e.getMessage(), e);
        }
        if (!Pem.isPair(certificate, key)) {
            throw new RefusedCertificateException(keyFile + ": the key does not belong to the first certificate of "
                    + CERTIFICATE_FILE + "; restore both from one backup");
        }
        if (now.isAfter(certificate.getNotAfter().toInstant())) {
            throw new RefusedCertificateException(certificateFile + ": the CA expired at "
                    + certificate.getNotAfter().toInstant()
                    + "; make a new one with `kvpool cert init` in another directory");
        }
        return new CertificateAuthority(poolId, certificate, key, certificates);
    }

    private static UUID poolId(Path file, X509Certificate certificate) throws RefusedCertificateException {
        try {
            return CertificateAuthority.poolId(certificate);
        } catch (IllegalArgumentException e) {
            throw new RefusedCertificateException(
                    file + ": its first certificate is no CA of a pool; `kvpool cert init` makes one", e);
        }
    }

    private static String text(Path file) throws RefusedCertificateException {
        try (var in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(BYTES_MAX + 1);
            if (bytes.length > BYTES_MAX) {
                throw new RefusedCertificateException(file + " has more than " + BYTES_MAX + " bytes");
            }
            return new String(bytes, StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            throw new RefusedCertificateException(file + " is missing; `kvpool cert init` makes a CA", e);
        } catch (RefusedCertificateException e) {
            throw e;
        } catch (IOException e) {
            throw new RefusedCertificateException("cannot read " + file + ": " + e, e);
        }
    }
}
