// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane;

import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.CommandRunner;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.version.VersionCommand;
import java.util.List;

/** The command line: {@code kvpool master | node | local | version}. */
public final class Kvpool {
    /** Every subcommand, in the order of the help. */
    public static final List<Command> COMMANDS = List.of(new VersionCommand());

    private Kvpool() {}

    public static void main(String[] arguments) {
        Console console = new Console(System.in, System.out, System.err);
        System.exit(new CommandRunner(COMMANDS, System.getenv(), console).run(arguments));
    }
}
