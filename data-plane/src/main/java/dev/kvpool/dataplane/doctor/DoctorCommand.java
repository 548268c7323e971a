// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.config.Rule;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.http.AdminCaller;
import dev.kvpool.dataplane.machine.KernelFiles;
import dev.kvpool.dataplane.machine.PortProbe;
import dev.kvpool.dataplane.secure.RefusedCertificateException;
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.dataplane.secure.TlsSettings;
import dev.kvpool.dataplane.version.Versions;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** {@code kvpool doctor}: exit code 1 when something that was asked about cannot work. */
public final class DoctorCommand implements Command {
    /** For all storage nodes together, however many there are. */
    private static final Duration NODES_AT_MOST = Duration.ofSeconds(15);

    @Override
    public String name() {
        return "doctor";
    }

    @Override
    public String summary() {
        return "Checks this machine and the connection to the masters. Each finding says how to fix it.";
    }

    @Override
    public List<Setting<?>> settings() {
        return DoctorSettings.ALL;
    }

    @Override
    public List<Rule> rules() {
        return TlsSettings.RULES;
    }

    @Override
    public int run(Settings settings, Console console) throws FailureException, InterruptedException {
        Optional<TlsContext> tls = tls(settings);
        AdminCaller caller = tls.map(AdminCaller::with).orElse(AdminCaller.PLAIN);
        List<CheckResult> findings = new ArrayList<>(machine(settings));
        settings.find(DoctorSettings.SSD_PATH)
                .ifPresent(path -> findings.add(SsdChecks.judge(
                        SsdPlace.at(path),
                        settings.find(DoctorSettings.SSD_SIZE).orElse(0L))));
        findings.addAll(ports(settings.get(DoctorSettings.PORTS)));
        Versions ours = Versions.ofThisBuild();
        PeerVisit visit = new PeerVisit(ours, new SecureRandom().nextLong() | 1, tls); // any number but 0
        settings.find(DoctorSettings.MASTERS).ifPresent(masters -> {
            findings.addAll(MasterChecks.judge(
                    ours, masters.parallelStream().map(visit::master).toList()));
        });
        if (settings.find(DoctorSettings.ADMINS).isPresent()) {
            List<HostPort> admins = settings.get(DoctorSettings.ADMINS);
            ClockVisit clocks = new ClockVisit(caller, Clock.systemUTC());
            findings.addAll(
                    ClockChecks.judge(admins.parallelStream().map(clocks::visit).toList()));
            findings.addAll(nodes(admins, caller, visit));
        }
        console.out().print(settings.get(DoctorSettings.JSON) ? Report.json(findings) + "\n" : Report.text(findings));
        return Report.count(findings, CheckResult.Level.PROBLEM) == 0 ? ExitCode.OK : ExitCode.FAILURE;
    }

    private static Optional<TlsContext> tls(Settings settings) throws FailureException {
        Optional<Path> directory = TlsSettings.place(settings).used();
        try {
            return directory.isEmpty()
                    ? Optional.empty()
                    : Optional.of(TlsContext.read(directory.get(), Instant.now()));
        } catch (RefusedCertificateException e) {
            throw new FailureException(e.getMessage(), e);
        }
    }

    private static List<CheckResult> machine(Settings settings) {
        Machine machine =
                new MachineReader(Path.of("/proc"), Path.of("/sys")).read(settings.get(DoctorSettings.DATA_DIR));
        return MachineChecks.judge(
                machine, settings.find(DoctorSettings.SEGMENT_SIZE).orElse(0L), settings.get(DoctorSettings.PORTS));
    }

    private static List<CheckResult> nodes(List<HostPort> admins, AdminCaller caller, PeerVisit visit)
            throws InterruptedException {
        Optional<PoolMap> pool = new PoolQuestion(caller).ask(admins);
        if (pool.isEmpty()) {
            return List.of(
                    CheckResult.warning(
                            "storage nodes",
                            "not looked for: none of " + admins + " leads a pool, so no master tells where they are",
                            "name the admin addresses (9003, with --tls-dir 9443) of all masters; look why none of them leads (/readyz of each says it)"));
        }
        String bootId = KernelFiles.text(Path.of("/proc/sys/kernel/random/boot_id"))
                .orElse("")
                .trim();
        List<NodeAnswer> answers = new NodeVisits(visit, bootId, NODES_AT_MOST).visit(pool.get());
        List<CheckResult> findings = new ArrayList<>(NodeChecks.judge(pool.get(), answers));
        findings.addAll(TransportChecks.judge(answers, bootId, UcxLibrary.look(System.getenv())));
        return findings;
    }

    private static List<CheckResult> ports(List<Integer> ports) {
        List<CheckResult> findings = new ArrayList<>();
        for (int port : ports) {
            List<String> taken = PortProbe.probe("0.0.0.0", Map.of(port, List.of("kvpool")));
            findings.add(
                    taken.isEmpty()
                            ? CheckResult.ok("port " + port, "free")
                            : CheckResult.warning(
                                    "port " + port,
                                    taken.getFirst(),
                                    "fine when it is kvpool that listens; else stop the other program (ss -ltnp), or choose"
                                            + " another port"));
        }
        return findings;
    }
}
