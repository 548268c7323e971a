// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerRole;
import dev.kvpool.nativelib.Uptime;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who this process is, for as long as it runs: the certificates of its directory, or others, looked at every 10 s. New ones serve new connections.
 * Those that cannot be used are logged once, and the ones before stay.
 */
public final class TlsIdentity implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TlsIdentity.class);

    /** How often is looked for new ones. */
    public static final Duration PERIOD = Duration.ofSeconds(10);

    /** What a process requires of its own certificate. */
    public interface OwnName {
        /** What is wrong with this name for this process, and how to fix it; empty when nothing is. */
        Optional<String> problem(PeerName name);
    }

    private final CredentialSource source;
    private final Thread thread;
    private volatile TlsContext current;
    private volatile boolean closed;
    private final EndingRoots endingRoots = new EndingRoots(InstantSource.system(), Uptime::ms);
    private String toldProblem = "";

    private TlsIdentity(CredentialSource source, Duration period) throws RefusedCertificateException {
        this.source = source;
        current = TlsContext.of(source.look().orElseThrow());
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
        return follow(new CertificateDirectory(directory, own, clock), period);
    }

    /**
     * Begins to follow a source of credentials.
     *
     * @throws RefusedCertificateException when there are none at first
     */
    public static TlsIdentity follow(CredentialSource source) throws RefusedCertificateException {
        return follow(source, PERIOD);
    }

    private static TlsIdentity follow(CredentialSource source, Duration period) throws RefusedCertificateException {
        TlsIdentity identity = new TlsIdentity(source, period);
        identity.thread.start();
        LOG.info(
                "this process is {}, until {}",
                identity.current.credentials().name().uri(),
                identity.current.credentials().notAfter());
        return identity;
    }

    /** What a master or node requires: its own role and name, and its pool. */
    public static OwnName member(PeerRole role, String name, UUID poolId) {
        return found ->
                found.role() == role && found.mayBe(name) && found.trustDomain().equals(poolId)
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

    /** Takes what is new now; of what cannot be used one line is logged, of roots that end soon one a day. */
    public synchronized void look() {
        try {
            Optional<Credentials> found = source.look();
            if (found.isPresent()) {
                current = TlsContext.of(found.get());
                toldProblem = "";
                LOG.info("new certificates are in use, until {}", found.get().notAfter());
            }
        } catch (RefusedCertificateException e) {
            if (!toldProblem.equals(e.getMessage())) {
                toldProblem = e.getMessage();
                LOG.warn(
                        "the certificates in use stay, until {}: {}",
                        current.credentials().notAfter(),
                        toldProblem);
            }
        }
        endingRoots.news(current.credentials().rootsNotAfter()).ifPresent(LOG::warn);
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }
}
