// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.dataplane.cert.IssuedDirectory;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.PeerName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** Certificates in directories of their own below a test's folder. */
public final class IssuedCertificates {
    private static final Duration DAY = Duration.ofDays(1);

    private IssuedCertificates() {}

    /** A directory for this name, in a pool of the CA. */
    public static Path issue(Path folder, CertificateAuthority by, String name, Instant from, Duration life)
            throws IOException {
        Path directory = folder.resolve("issued-" + UUID.randomUUID());
        IssuedDirectory.write(directory, by, by.issue(PeerName.ofPath(by.poolId(), name), List.of(), from, life));
        return directory;
    }

    /** Of another CA, but one that believes ours: it is the server that refuses. */
    public static TlsContext foreign(Path folder, CertificateAuthority by, CertificateAuthority ours, String name)
            throws IOException {
        Path directory = issue(folder, by, name, Instant.now(), DAY);
        Files.writeString(directory.resolve("ca.crt"), Pem.encode(by.certificate()) + Pem.encode(ours.certificate()));
        return TlsContext.read(directory, Instant.now());
    }
}
