// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Optional;

/** The directory of {@code --tls-dir}, whose files somebody else writes. */
final class CertificateDirectory implements CredentialSource {
    private final Path directory;
    private final TlsIdentity.OwnName own;
    private final InstantSource clock;
    private Optional<CertificateFiles> seen = Optional.empty();

    CertificateDirectory(Path directory, TlsIdentity.OwnName own, InstantSource clock) {
        this.directory = directory;
        this.own = own;
        this.clock = clock;
    }

    @Override
    public Optional<Credentials> look() throws RefusedCertificateException {
        CertificateFiles found = CertificateFiles.read(directory);
        if (seen.filter(found::equals).isPresent()) {
            return Optional.empty();
        }
        Credentials credentials = found.check(clock.instant());
        Optional<String> problem = own.problem(credentials.name());
        if (problem.isPresent()) {
            throw new RefusedCertificateException(
                    directory.resolve(CertificateFiles.CHAIN_FILE) + ": " + problem.get());
        }
        // Not before: those that are refused for the time of day are good later.
        seen = Optional.of(found);
        return Optional.of(credentials);
    }
}
