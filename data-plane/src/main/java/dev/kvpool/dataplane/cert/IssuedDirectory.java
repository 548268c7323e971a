// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cert;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import java.io.IOException;
import java.nio.file.Path;
import java.security.PrivateKey;

/** What {@code --tls-dir} takes: {@code tls.crt}, {@code tls.key} and {@code ca.crt}. */
public final class IssuedDirectory {
    public static final String ROOTS_FILE = "ca.crt";
    public static final String CHAIN_FILE = "tls.crt";

    private IssuedDirectory() {}

    /**
     * Writes or renews a directory; each file is replaced as a whole.
     *
     * @param authority that has issued it, whose roots become those that are trusted
     * @throws IOException when it cannot be written; the message names the file
     */
    public static void write(Path directory, CertificateAuthority authority, CertificateAuthority.Issued issued)
            throws IOException {
        write(directory, authority.roots(), issued.key(), Pem.encode(issued.certificate()));
    }

    /**
     * Writes or renews a directory; each file is replaced as a whole.
     *
     * @param roots to trust, PEM
     * @param chain of the certificate, PEM
     * @throws IOException when it cannot be written; the message names the file
     */
    public static void write(Path directory, String roots, PrivateKey key, String chain) throws IOException {
        PrivateFiles.directory(directory);
        PrivateFiles.writePublic(directory.resolve(ROOTS_FILE), roots);
        PrivateFiles.writePrivate(directory.resolve("tls.key"), Pem.encodeKey(key));
        PrivateFiles.writePublic(directory.resolve(CHAIN_FILE), chain);
    }
}
