// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cli;

import dev.kvpool.dataplane.config.Setting;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/**
 * The part that picocli does: splitting a command line into flags, and the help. Values stay texts here; reading them is
 * the work of {@link dev.kvpool.dataplane.config.SettingsReader}, which can report every bad one.
 */
final class CommandLineParser {
    private static final String HELP = "--help";

    private final List<Command> commands;
    private final CommandLine picocli;

    /**
     * What a command line says.
     *
     * @param command the subcommand; empty when help was asked for or none was named
     * @param flags given values by flag name without dashes
     * @param problems what could not be understood
     * @param help the text to show instead of running, when it was asked for
     */
    record Parsed(Optional<Command> command, Map<String, String> flags, List<String> problems, Optional<String> help) {}

    CommandLineParser(List<Command> commands) {
        this.commands = commands;
        CommandSpec root = spec("kvpool", "Runs the processes of a kvpool KV-cache pool.");
        commands.forEach(command -> root.addSubcommand(command.name(), spec(command)));
        picocli = new CommandLine(root).setUnmatchedArgumentsAllowed(true).setUsageHelpAutoWidth(true);
        picocli.getCommandSpec().parser().collectErrors(true);
        picocli.getSubcommands()
                .values()
                .forEach(sub -> sub.getCommandSpec().parser().collectErrors(true));
    }

    Parsed parse(String... arguments) {
        ParseResult root = picocli.parseArgs(arguments);
        ParseResult result = root.hasSubcommand() ? root.subcommand() : root;
        CommandLine line = result.commandSpec().commandLine();
        if (result.hasMatchedOption(HELP)) {
            return new Parsed(Optional.empty(), Map.of(), List.of(), Optional.of(line.getUsageMessage()));
        }
        List<String> problems = new ArrayList<>();
        result.errors().forEach(error -> problems.add(error.getMessage()));
        unmatched(root, result).forEach(argument -> problems.add(unknown(argument, root.hasSubcommand(), line)));
        if (!root.hasSubcommand()) {
            if (problems.isEmpty()) {
                problems.add("no command given; there are " + commandNames());
            }
            return new Parsed(Optional.empty(), Map.of(), problems, Optional.empty());
        }
        Map<String, String> flags = new HashMap<>();
        for (OptionSpec option : result.matchedOptions()) {
            flags.put(option.longestName().substring(2), option.getValue());
        }
        return new Parsed(byName(result.commandSpec().name()), flags, problems, Optional.empty());
    }

    private static List<String> unmatched(ParseResult root, ParseResult result) {
        List<String> arguments = new ArrayList<>(root.unmatched());
        if (root.hasSubcommand()) {
            arguments.addAll(result.unmatched());
        }
        return arguments;
    }

    private String unknown(String argument, boolean inCommand, CommandLine line) {
        if (!inCommand && !argument.startsWith("-")) {
            return "unknown command '" + argument + "'; there are " + commandNames();
        }
        if (!argument.startsWith("-")) {
            return "unexpected argument '" + argument + "'; every setting is a flag";
        }
        List<String> suggestions = new CommandLine.UnmatchedArgumentException(line, List.of(argument)).getSuggestions();
        return "unknown flag '" + argument + "'"
                + (suggestions.isEmpty() ? "" : "; did you mean " + String.join(" or ", suggestions) + "?");
    }

    private String commandNames() {
        return String.join(", ", commands.stream().map(Command::name).toList());
    }

    private Optional<Command> byName(String name) {
        return commands.stream().filter(command -> command.name().equals(name)).findFirst();
    }

    private static CommandSpec spec(Command command) {
        CommandSpec spec = spec(command.name(), command.summary());
        CommandRunner.allSettings(command).forEach(setting -> spec.addOption(option(setting)));
        spec.usageMessage()
                .footer("", "Every flag can also be given as an environment variable, --data-dir as KVPOOL_DATA_DIR.");
        return spec;
    }

    private static CommandSpec spec(String name, String summary) {
        CommandSpec spec = CommandSpec.create().name(name);
        spec.usageMessage().description(summary).sortOptions(false).synopsisHeading("Usage: ");
        return spec.addOption(OptionSpec.builder("-h", HELP)
                .usageHelp(true)
                .description("Show this help.")
                .build());
    }

    private static OptionSpec option(Setting<?> setting) {
        OptionSpec.Builder option = OptionSpec.builder(setting.flag())
                .type(String.class)
                .hidden(setting.hidden())
                .description(setting.help() + description(setting));
        if (setting.isOnOff()) {
            option.arity("0..1").fallbackValue("true").paramLabel("true|false");
        } else {
            option.arity("1").paramLabel(setting.format().label());
        }
        return option.build();
    }

    private static String description(Setting<?> setting) {
        if (setting.required()) {
            return " Required.";
        }
        if (setting.isOnOff()) {
            return "";
        }
        return setting.defaultText()
                .filter(text -> !text.isEmpty())
                .map(text -> " Default: " + text + ".")
                .orElse("");
    }
}
