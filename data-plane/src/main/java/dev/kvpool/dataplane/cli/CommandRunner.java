// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cli;

import dev.kvpool.dataplane.cli.CommandLineParser.Parsed;
import dev.kvpool.dataplane.config.KvpoolEnvironment;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.config.SettingsReader;
import dev.kvpool.dataplane.config.UsageException;
import dev.kvpool.nativelib.KvException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/** From arguments and environment to an exit code: parse, check everything, run. */
public final class CommandRunner {
    private final List<Command> commands;
    private final Map<String, String> environment;
    private final Console console;

    public CommandRunner(List<Command> commands, Map<String, String> environment, Console console) {
        this.commands = List.copyOf(commands);
        this.environment = Map.copyOf(environment);
        this.console = console;
    }

    /** Runs what the arguments say and gives the exit code; never throws for what a user did. */
    public int run(String... arguments) {
        Parsed parsed = new CommandLineParser(commands).parse(arguments);
        if (parsed.help().isPresent()) {
            console.out().print(parsed.help().get());
            return ExitCode.OK;
        }
        String name =
                parsed.command().map(command -> "kvpool " + command.name()).orElse("kvpool");
        try {
            if (parsed.command().isEmpty()) {
                throw new UsageException(parsed.problems());
            }
            Command command = parsed.command().get();
            Settings settings = settings(command, parsed);
            if (settings.get(ParentWatch.SETTING)) {
                ParentWatch.start(console.in(), console.stop());
            }
            return command.run(settings, console);
        } catch (UsageException e) {
            e.problems().forEach(problem -> console.err().println(name + ": " + problem));
            console.err().println("Try '" + name + " --help'.");
            return ExitCode.USAGE;
        } catch (FailureException | KvException e) {
            console.err().println(name + ": " + e.getMessage());
            return ExitCode.FAILURE;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.FAILURE;
        } catch (RuntimeException | Error e) {
            // Caught so that the process ends with a code; threads of the command may still run.
            console.err().println(name + ": a defect of kvpool, please report it:");
            e.printStackTrace(console.err());
            return ExitCode.FAILURE;
        }
    }

    private Settings settings(Command command, Parsed parsed) throws UsageException {
        KvpoolEnvironment kvpool = KvpoolEnvironment.of(environment, settingsOfAllCommands());
        // Before anything is refused: what is missing may be what was misspelt.
        kvpool.misspellings()
                .forEach(misspelling -> console.err()
                        .println("kvpool: ignored environment variable " + misspelling.name()
                                + ", which is no setting; did you mean " + misspelling.likely() + "?"));
        Settings settings = new SettingsReader(parsed.flags(), kvpool.settings())
                .alsoReport(parsed.problems())
                .read(allSettings(command), command.rules());
        if (!kvpool.serviceLinks().isEmpty()) {
            console.err().println("kvpool: ignored " + serviceLinks(kvpool.serviceLinks()));
        }
        return settings;
    }

    private static String serviceLinks(List<String> variables) {
        return variables.size() + " environment variables such as " + variables.getFirst()
                + " that Kubernetes sets for Services; enableServiceLinks: false in the pod spec avoids them";
    }

    private Collection<Setting<?>> settingsOfAllCommands() {
        Collection<Setting<?>> all = new LinkedHashSet<>();
        commands.forEach(command -> all.addAll(allSettings(command)));
        return all;
    }

    /** Those of the command and those that every command has. */
    static List<Setting<?>> allSettings(Command command) {
        List<Setting<?>> all = new ArrayList<>(command.settings());
        all.add(ParentWatch.SETTING);
        return all;
    }
}
