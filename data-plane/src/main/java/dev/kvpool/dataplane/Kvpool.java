// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane;

import dev.kvpool.dataplane.agent.AgentCommand;
import dev.kvpool.dataplane.cert.CertInitCommand;
import dev.kvpool.dataplane.cert.CertIssueCommand;
import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.CommandRunner;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.StopSignal;
import dev.kvpool.dataplane.doctor.DoctorCommand;
import dev.kvpool.dataplane.enrol.EnrolCommand;
import dev.kvpool.dataplane.local.LocalCommand;
import dev.kvpool.dataplane.master.MasterCommand;
import dev.kvpool.dataplane.node.StorageNodeCommand;
import dev.kvpool.dataplane.preflight.PreflightCommand;
import dev.kvpool.dataplane.prepare.PrepareCommand;
import dev.kvpool.dataplane.version.VersionCommand;
import java.util.List;

/** The command line: {@code kvpool master | node | agent | local | doctor | cert | preflight | prepare | version}. */
public final class Kvpool {
    static {
        // Sessions are not resumed: a ticket would outlive the roots by which its holder was believed. The JDK reads
        // this
        // when the first part of its TLS is used, such as a client of the API server, so it comes before all else.
        System.setProperty("jdk.tls.server.newSessionTicketCount", "0");
    }

    /** Every subcommand, in the order of the help. */
    public static final List<Command> COMMANDS = List.of(
            new MasterCommand(),
            new StorageNodeCommand(),
            new AgentCommand(),
            new LocalCommand(Kvpool.class),
            new DoctorCommand(),
            new CertInitCommand(),
            new CertIssueCommand(),
            new EnrolCommand(),
            new PreflightCommand(),
            new PrepareCommand(List.of(new MasterCommand(), new StorageNodeCommand())),
            new VersionCommand());

    private Kvpool() {}

    public static void main(String[] arguments) {
        StopSignal stop = new StopSignal().onTermination();
        Console console = new Console(System.in, System.out, System.err, stop);
        int code = new CommandRunner(COMMANDS, System.getenv(), console).run(arguments);
        stop.finished(code);
        System.exit(code);
    }
}
