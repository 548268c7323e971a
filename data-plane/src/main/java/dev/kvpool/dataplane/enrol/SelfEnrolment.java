// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.cli.StopSignal;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.config.Rule;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.http.AdminPorts;
import dev.kvpool.dataplane.http.AdminServer;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.secure.RefusedCertificateException;
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.dataplane.secure.TlsSettings;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.nativelib.Uptime;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A process that gets the certificate of its {@code --tls-dir} itself, before it listens, and keeps it new as long as it runs. */
public final class SelfEnrolment implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SelfEnrolment.class);

    static final Setting<List<HostPort>> AT = Setting.optional(
            "enrol-at",
            HostPort.LIST,
            "Masters with the ports of --secure-admin-port: this process gets the certificate in --tls-dir from them, before it listens, and"
                    + " a new one at half of the life of each. Needs --token-file and --roots.");

    public static final List<Setting<?>> SETTINGS = List.of(AT, ClientSettings.TOKEN, ClientSettings.ROOTS);

    public static final List<Rule> RULES = List.of(
            new Rule(
                    List.of(AT, ClientSettings.TOKEN, ClientSettings.ROOTS, TlsSettings.DIRECTORY),
                    values -> {
                        long given = SETTINGS.stream()
                                .filter(setting -> values.find(setting).isPresent())
                                .count();
                        return given == 0
                                || (given == SETTINGS.size()
                                        && values.find(TlsSettings.DIRECTORY).isPresent());
                    },
                    "give --enrol-at, --token-file, --roots and --tls-dir together: where to ask, what to show, whom to believe and where to write"));

    private final Optional<CertificateRenewal> renewal;
    private final Optional<TrustTelling> telling;
    private final Path directory;
    private final Thread thread;
    private volatile boolean closed;
    private volatile String problem = "no master was asked yet";

    private SelfEnrolment(Settings settings) {
        Optional<Path> used = TlsSettings.place(settings).used();
        directory = used.orElse(Path.of(""));
        Optional<EnrolClient> client = used.isEmpty() || settings.find(AT).isEmpty()
                ? Optional.empty()
                : Optional.of(new EnrolClient(
                        settings.get(AT),
                        settings.get(ClientSettings.TOKEN),
                        settings.get(ClientSettings.ROOTS),
                        directory));
        renewal = client.map(it -> new CertificateRenewal(it, new Lines(), Uptime::ms));
        telling = client.map(it -> new TrustTelling(it, Uptime::ms));
        thread = Thread.ofVirtual().name("enrolment").unstarted(this::renew);
    }

    /** What is logged. */
    private final class Lines implements CertificateRenewal.Told {
        @Override
        public void enrolled(EnrolClient.Written written) {
            LOG.info("enrolled {} in {}, until {}", written.name(), directory, written.notAfter());
        }

        @Override
        public void failed(IOException why, Duration again) {
            problem = String.valueOf(why.getMessage());
            LOG.warn("no certificate from a master, next try in {} s: {}", again.toSeconds(), problem);
        }
    }

    /**
     * Returns when the directory has a certificate, and goes on to renew it; at once where none is to be got. One that is there from before, as
     * after a restart of a container, does while no master answers. Meanwhile the plain port answers probes: alive, and not ready.
     *
     * @return empty when the process was asked to stop before
     * @throws FailureException when the port for probes cannot be bound
     */
    public static Optional<SelfEnrolment> start(Settings settings, AdminPorts ports, StopSignal stop)
            throws FailureException, InterruptedException {
        SelfEnrolment enrolment = new SelfEnrolment(settings);
        if (enrolment.renewal.isEmpty()) {
            return Optional.of(enrolment);
        }
        if (!enrolment.awaitFirst(ports, stop)) {
            return Optional.empty();
        }
        enrolment.thread.start();
        return Optional.of(enrolment);
    }

    private boolean awaitFirst(AdminPorts ports, StopSignal stop) throws FailureException, InterruptedException {
        CertificateRenewal renewing = renewal.orElseThrow();
        if (isThere()) {
            return true;
        }
        Duration wait = renewing.step();
        if (renewing.hasOne()) {
            return true;
        }
        try (AdminServer _ = AdminServer.start(ports.host(), ports.plain(), probes())) {
            while (!stop.await(wait)) {
                wait = renewing.step();
                if (renewing.hasOne()) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            throw new FailureException(e.getMessage() + "; choose another --admin-port", e);
        }
    }

    private boolean isThere() {
        try {
            TlsContext.read(directory, Instant.now());
            return true;
        } catch (RefusedCertificateException e) { // none, or none that is good any more
            return false;
        }
    }

    private List<Route> probes() {
        return List.of(
                Route.get("/healthz", request -> Response.text(200, "ok")),
                Route.get(
                        "/readyz",
                        request ->
                                Response.text(503, "waits for a certificate from a master (--enrol-at): " + problem)),
                Route.get(
                        "/version",
                        request -> Response.json(200, Versions.ofThisBuild().json())));
    }

    private void renew() {
        CertificateRenewal renewing = renewal.orElseThrow();
        while (!closed) {
            Duration wait = renewing.turn();
            telling.orElseThrow().turn(renewing.writtenMs());
            try {
                Thread.sleep(wait);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }
}
