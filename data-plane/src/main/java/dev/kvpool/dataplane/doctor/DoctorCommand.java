// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.machine.PortProbe;
import dev.kvpool.dataplane.version.Versions;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** {@code kvpool doctor}: exit code 1 when something that was asked about cannot work. */
public final class DoctorCommand implements Command {
    @Override
    public String name() {
        return "doctor";
    }

    @Override
    public String summary() {
        return "Looks at this machine and the way to the masters; each finding comes with the way out.";
    }

    @Override
    public List<Setting<?>> settings() {
        return DoctorSettings.ALL;
    }

    @Override
    public int run(Settings settings, Console console) {
        List<Finding> findings = new ArrayList<>(machine(settings));
        settings.find(DoctorSettings.SSD_PATH)
                .ifPresent(path -> findings.add(SsdChecks.judge(
                        SsdPlace.at(path),
                        settings.find(DoctorSettings.SSD_SIZE).orElse(0L))));
        findings.addAll(ports(settings.get(DoctorSettings.PORTS)));
        settings.find(DoctorSettings.MASTERS).ifPresent(masters -> {
            Versions ours = Versions.ofThisBuild();
            MasterVisit visit = new MasterVisit(ours, new SecureRandom().nextLong() | 1); // any number but 0
            findings.addAll(MasterChecks.judge(
                    ours, masters.parallelStream().map(visit::visit).toList()));
        });
        settings.find(DoctorSettings.ADMINS).ifPresent(admins -> {
            ClockVisit visit = new ClockVisit(Clock.systemUTC());
            findings.addAll(
                    ClockChecks.judge(admins.parallelStream().map(visit::visit).toList()));
        });
        console.out().print(settings.get(DoctorSettings.JSON) ? Report.json(findings) + "\n" : Report.text(findings));
        return Report.count(findings, Finding.Level.PROBLEM) == 0 ? ExitCode.OK : ExitCode.FAILURE;
    }

    private static List<Finding> machine(Settings settings) {
        Machine machine =
                new MachineReader(Path.of("/proc"), Path.of("/sys")).read(settings.get(DoctorSettings.DATA_DIR));
        return MachineChecks.judge(
                machine, settings.find(DoctorSettings.SEGMENT_SIZE).orElse(0L), settings.get(DoctorSettings.PORTS));
    }

    private static List<Finding> ports(List<Integer> ports) {
        List<Finding> findings = new ArrayList<>();
        for (int port : ports) {
            List<String> taken = PortProbe.probe("0.0.0.0", Map.of(port, List.of("kvpool")));
            findings.add(
                    taken.isEmpty()
                            ? Finding.ok("port " + port, "free")
                            : Finding.warning(
                                    "port " + port,
                                    taken.getFirst(),
                                    "fine when it is kvpool that listens; else stop the other program (ss -ltnp), or choose"
                                            + " another port"));
        }
        return findings;
    }
}
