// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import dev.kvpool.dataplane.cert.AuthorityDirectory;
import dev.kvpool.dataplane.cert.IssuedDirectory;
import dev.kvpool.dataplane.cert.PrivateFiles;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.secure.RefusedCertificateException;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.name.PeerName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/**
 * The certificates of a local pool, in a directory that only its user may enter: a CA, which later runs use again, and for each process and for
 * clients a directory, issued at each start.
 */
final class LocalCertificates {
    private static final Duration CA_LIFE = Duration.ofDays(365);

    /** A CA that ends sooner is replaced at the start. */
    private static final Duration CA_REST_MIN = Duration.ofDays(30);

    private static final String CLIENT = "client";
    private static final String ADMIN = "admin";

    private final Path directory;

    private LocalCertificates(Path directory) {
        this.directory = directory;
    }

    /**
     * Issues what a pool needs.
     *
     * @param directory for all of it
     * @param masters their names
     * @param nodes their ids
     * @throws FailureException when it cannot be read or written, with the file
     */
    static LocalCertificates issue(Path directory, UUID poolId, List<String> masters, List<String> nodes, Instant now)
            throws FailureException {
        LocalCertificates certificates = new LocalCertificates(directory);
        try {
            PrivateFiles.directory(directory);
            CertificateAuthority authority = certificates.authority(poolId, now);
            for (String master : masters) {
                certificates.issue(authority, master, "master/" + master, now);
            }
            for (String node : nodes) {
                certificates.issue(authority, node, "node/" + node, now);
            }
            certificates.issue(authority, CLIENT, "tenant/default/rw/local", now);
            certificates.issue(authority, ADMIN, "admin/local", now);
        } catch (IOException e) {
            throw new FailureException(e.getMessage(), e);
        }
        return certificates;
    }

    /** Of a master or node. */
    Path of(String process) {
        return directory.resolve(process);
    }

    /** For KVPOOL_TLS_DIR. */
    Path client() {
        return of(CLIENT);
    }

    /** For people and commands that ask admin HTTP. */
    Path admin() {
        return of(ADMIN);
    }

    private CertificateAuthority authority(UUID poolId, Instant now) throws IOException {
        Path place = directory.resolve("ca");
        if (Files.exists(place)) {
            CertificateAuthority kept = kept(place, now);
            if (!kept.poolId().equals(poolId)) {
                throw new RefusedCertificateException(place + " is the CA of pool " + kept.poolId()
                        + ", but this pool is " + poolId + "; remove " + directory + ", and a new one is made");
            }
            if (kept.certificate().getNotAfter().toInstant().isAfter(now.plus(CA_REST_MIN))) {
                return kept;
            }
            Files.delete(place.resolve(AuthorityDirectory.KEY_FILE));
            Files.delete(place.resolve(AuthorityDirectory.CERTIFICATE_FILE));
        }
        CertificateAuthority made = CertificateAuthority.create(poolId, now, CA_LIFE);
        AuthorityDirectory.write(place, made);
        return made;
    }

    private CertificateAuthority kept(Path place, Instant now) throws RefusedCertificateException {
        try {
            return AuthorityDirectory.read(place, now);
        } catch (RefusedCertificateException e) {
            throw new RefusedCertificateException(
                    e.getMessage() + "; or remove " + directory + ", and a new one is made", e);
        }
    }

    private void issue(CertificateAuthority authority, String process, String name, Instant now) throws IOException {
        IssuedDirectory.write(
                of(process),
                authority,
                authority.issue(PeerName.ofPath(authority.poolId(), name), List.of(), now, CA_LIFE));
    }
}
