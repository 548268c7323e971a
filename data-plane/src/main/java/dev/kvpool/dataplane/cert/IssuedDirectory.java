// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cert;

import dev.kvpool.dataplane.secure.Pem;
import java.io.IOException;
import java.nio.file.Path;

/** What {@code --tls-dir} takes: {@code tls.crt}, {@code tls.key} and {@code ca.crt}. */
public final class IssuedDirectory {
    private IssuedDirectory() {}

    /**
     * Writes or renews a directory; each file is replaced as a whole.
     *
     * @param authority that has issued it, which becomes the only trusted root
     * @throws IOException when it cannot be written; the message names the file
     */
    public static void write(Path directory, CertificateAuthority authority, CertificateAuthority.Issued issued)
            throws IOException {
        PrivateFiles.directory(directory);
        PrivateFiles.writePublic(directory.resolve("ca.crt"), Pem.encode(authority.certificate()));
        PrivateFiles.writePrivate(directory.resolve("tls.key"), Pem.encodeKey(issued.key()));
        PrivateFiles.writePublic(directory.resolve("tls.crt"), Pem.encode(issued.certificate()));
    }
}
