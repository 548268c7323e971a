// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerRole;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who this process is, for as long as it runs: the certificates of its directory, looked at every 10 s. New ones serve new connections. Those that
 * cannot be used are logged once, and the ones before stay.
 */
public final class TlsIdentity implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TlsIdentity.class);

    /** How often the directory is looked at. */
    public static final Duration PERIOD = Duration.ofSeconds(10);

    /** What a process requires of its own certificate. */
    public interface OwnName {
        /** What is wrong with this name for this process, and how to fix it; empty when nothing is. */
        Optional<String> problem(PeerName name);
    }

    private final Path directory;
    private final OwnName own;
    private final InstantSource clock;
    private final Thread thread;
    private volatile TlsContext current;
    private volatile boolean closed;
    private CertificateFiles seen;
    private String toldProblem = "";

    private TlsIdentity(Path directory, OwnName own, InstantSource clock, Duration period)
            throws RefusedCertificateException {
        this.directory = directory;
        this.own = own;
        this.clock = clock;
        seen = CertificateFiles.read(directory);
        current = TlsContext.of(checked(seen));
        thread = Thread.ofVirtual().name("certificates").unstarted(() -> follow(period));
    }

    /**
     * Reads the directory and begins to follow it.
     *
     * @param own what this process requires of the name in its certificate
     * @throws RefusedCertificateException with the file, the cause and how to fix it
     */
    public static TlsIdentity open(Path directory, OwnName own, InstantSource clock)
            throws RefusedCertificateException {
        return open(directory, own, clock, PERIOD);
    }

    static TlsIdentity open(Path directory, OwnName own, InstantSource clock, Duration period)
            throws RefusedCertificateException {
        TlsIdentity identity = new TlsIdentity(directory, own, clock, period);
        identity.thread.start();
        LOG.info(
                "this process is {}, until {}",
                identity.current.credentials().name().uri(),
                identity.current.credentials().notAfter());
        return identity;
    }

    /** What a master or node requires: its own role and name, and its pool. */
    public static OwnName member(PeerRole role, String name, UUID poolId) {
        return found -> found.role() == role
                        && found.name().equals(name)
                        && found.trustDomain().equals(poolId)
                ? Optional.empty()
                : Optional.of("it is for " + found.uri() + ", but this process is spiffe://" + poolId + "/"
                        + role.word() + "/" + name + "; issue a certificate with that name");
    }

    /** What to use for a new connection. */
    public TlsContext current() {
        return current;
    }

    private void follow(Duration period) {
        while (!closed) {
            try {
                Thread.sleep(period);
            } catch (InterruptedException e) {
                return;
            }
            look();
        }
    }

    /** Takes what is new in the directory now; of what cannot be used one line is logged. */
    public synchronized void look() {
        try {
            CertificateFiles found = CertificateFiles.read(directory);
            if (found.equals(seen)) {
                return;
            }
            TlsContext next = TlsContext.of(checked(found));
            // Not before: those that are refused for the time of day are good later.
            seen = found;
            current = next;
            toldProblem = "";
            LOG.info("new certificates are in use, until {}", next.credentials().notAfter());
        } catch (RefusedCertificateException e) {
            if (!toldProblem.equals(e.getMessage())) {
                toldProblem = e.getMessage();
                LOG.warn(
                        "the certificates in use stay, until {}: {}",
                        current.credentials().notAfter(),
                        toldProblem);
            }
        }
    }

    private Credentials checked(CertificateFiles files) throws RefusedCertificateException {
        Credentials credentials = files.check(clock.instant());
        Optional<String> problem = own.problem(credentials.name());
        if (problem.isPresent()) {
            throw new RefusedCertificateException(
                    directory.resolve(CertificateFiles.CHAIN_FILE) + ": " + problem.get());
        }
        return credentials;
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }
}
