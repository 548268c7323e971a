// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.config.Rule;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.http.AdminCaller;
import dev.kvpool.dataplane.machine.MemoryRoom;
import dev.kvpool.dataplane.machine.PortProbe;
import dev.kvpool.dataplane.secure.RefusedCertificateException;
import dev.kvpool.dataplane.secure.TlsMode;
import dev.kvpool.dataplane.secure.TlsPlace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** {@code kvpool local}: a whole pool on this machine, each process a child of this one. */
public final class LocalCommand implements Command {
    private static final Path MEMORY = Path.of("/dev/shm");

    private final Class<?> mainClass;

    /** A command whose children run this main class, which must know {@code master} and {@code node}. */
    public LocalCommand(Class<?> mainClass) {
        this.mainClass = mainClass;
    }

    @Override
    public String name() {
        return "local";
    }

    @Override
    public String summary() {
        return "Runs a pool on this machine, for development and tests.";
    }

    @Override
    public List<Setting<?>> settings() {
        return LocalSettings.ALL;
    }

    @Override
    public List<Rule> rules() {
        return LocalSettings.RULES;
    }

    @Override
    public int run(Settings settings, Console console) throws FailureException, InterruptedException {
        LocalPlan plan = new LocalPlan(settings);
        requireNone(plan.portProblems());
        requireNone(PortProbe.problems(settings.get(LocalSettings.HOST), plan.ports(), PortProbe.PATIENCE));
        Optional<Path> named = settings.find(LocalSettings.DATA_DIR);
        try (LocalDirectory directory =
                named.isPresent() ? LocalDirectory.at(named.get()) : LocalDirectory.temporary(MEMORY)) {
            requireRoom(settings, plan, directory);
            directory.prepare(plan.nodeIds());
            makeSsdDirectories(plan.ssds());
            announce(plan, directory, console);
            UUID poolId = directory.poolId(settings.find(LocalSettings.POOL_ID), UUID::randomUUID);
            TlsMode mode = settings.get(LocalSettings.TLS);
            Optional<LocalCertificates> certificates = mode == TlsMode.OFF
                    ? Optional.empty()
                    : Optional.of(LocalCertificates.issue(
                            directory.tls(), poolId, plan.masterNames(), plan.nodeIds(), Instant.now()));
            runPool(settings, plan, directory, poolId, certificates, console);
        }
        return ExitCode.OK;
    }

    private void runPool(
            Settings settings,
            LocalPlan plan,
            LocalDirectory directory,
            UUID poolId,
            Optional<LocalCertificates> certificates,
            Console console)
            throws FailureException, InterruptedException {
        Supervisor supervisor = new Supervisor(
                plan.children(directory, poolId, certificates),
                spec -> directory.log(spec.name()),
                spec -> Child.start(mainClass, spec, directory.log(spec.name())),
                settings.get(LocalSettings.RESTART),
                console,
                Clock.systemUTC());
        try {
            supervisor.startAll();
            PoolProbe probe = new PoolProbe(caller(settings, certificates), plan.masterAdmins());
            int nodes = settings.get(LocalSettings.STORAGE_NODES);
            if (supervisor.awaitReady(probe, nodes, settings.get(LocalSettings.READY_TIMEOUT))) {
                console.out().println("ready masters=" + HostPort.join(plan.masters()));
                certificates.ifPresent(issued -> {
                    console.out().println("secure-admins=" + HostPort.join(plan.masterAdmins()));
                    console.out().println("KVPOOL_TLS_DIR=" + issued.client());
                });
                console.out().flush();
                supervisor.watch();
            }
        } finally {
            supervisor.stopAll();
        }
    }

    private static AdminCaller caller(Settings settings, Optional<LocalCertificates> certificates)
            throws FailureException {
        try {
            return AdminCaller.of(
                    new TlsPlace(certificates.map(LocalCertificates::admin), settings.get(LocalSettings.TLS)));
        } catch (RefusedCertificateException e) {
            throw new FailureException(e.getMessage(), e);
        }
    }

    private static void announce(LocalPlan plan, LocalDirectory directory, Console console) throws FailureException {
        console.err()
                .println("kvpool local: data in " + directory.path()
                        + (directory.isTemporary() ? " (removed on exit), logs in " : ", logs in ")
                        + directory.path().resolve("logs"));
        List<String> missing = directory.nodesWithout(plan.nodeIds());
        if (!missing.isEmpty()) {
            console.err()
                    .println("kvpool local: " + String.join(", ", missing) + " of an earlier run will not be started:"
                            + " objects there are away until --storage-nodes covers them again");
        }
    }

    private static void requireRoom(Settings settings, LocalPlan plan, LocalDirectory directory)
            throws FailureException {
        long segmentBytes = settings.get(LocalSettings.SEGMENT_SIZE);
        long newSegments = plan.nodeIds().stream()
                .filter(id -> !Files.exists(directory.node(id).resolve("segment-0.kvs")))
                .count();
        try {
            Optional<String> problem = MemoryRoom.at(directory.path())
                    .problem(
                            Math.multiplyExact(newSegments, segmentBytes),
                            LocalSettings.SEGMENT_SIZE.flag() + " for " + newSegments + " new nodes");
            if (problem.isPresent()) {
                throw new FailureException(problem.get()
                        + ". Choose a smaller --segment-size, fewer --storage-nodes, or" + " another --data-dir.");
            }
        } catch (IOException e) {
            throw new FailureException("cannot examine " + directory.path() + ": " + e.getMessage(), e);
        }
    }

    private static void makeSsdDirectories(List<Path> directories) throws FailureException {
        for (Path directory : directories) {
            try {
                Files.createDirectories(directory);
            } catch (IOException e) {
                throw new FailureException("cannot make " + directory + ": " + e.getMessage(), e);
            }
        }
    }

    private static void requireNone(List<String> problems) throws FailureException {
        if (!problems.isEmpty()) {
            throw new FailureException(String.join("\nkvpool local: ", problems));
        }
    }
}
