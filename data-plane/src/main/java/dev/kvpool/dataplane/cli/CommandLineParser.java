// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cli;

import dev.kvpool.dataplane.config.Setting;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
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
        commands.forEach(command -> add(root, command));
        picocli = new CommandLine(root).setUnmatchedArgumentsAllowed(true).setUsageHelpAutoWidth(true);
        collectErrors(picocli);
    }

    /** A name of two words is a command of a group, which the first word names. */
    private static void add(CommandSpec root, Command command) {
        String[] words = command.name().split(" ", 2);
        if (words.length == 1) {
            root.addSubcommand(command.name(), spec(command));
            return;
        }
        if (!root.subcommands().containsKey(words[0])) {
            root.addSubcommand(words[0], spec(words[0], "Commands that begin with " + words[0] + "."));
        }
        root.subcommands()
                .get(words[0])
                .getCommandSpec()
                .addSubcommand(words[1], spec(command).name(words[1]));
    }

    private static void collectErrors(CommandLine line) {
        line.getCommandSpec().parser().collectErrors(true);
        line.getSubcommands().values().forEach(CommandLineParser::collectErrors);
    }

    Parsed parse(String... arguments) {
        List<ParseResult> path = path(picocli.parseArgs(arguments));
        ParseResult result = path.getLast();
        CommandLine line = result.commandSpec().commandLine();
        if (result.hasMatchedOption(HELP)) {
            return new Parsed(Optional.empty(), Map.of(), List.of(), Optional.of(line.getUsageMessage()));
        }
        Optional<Command> command = byName(
                path.stream().skip(1).map(part -> part.commandSpec().name()).collect(Collectors.joining(" ")));
        List<String> problems = new ArrayList<>();
        result.errors().forEach(error -> problems.add(error.getMessage()));
        path.stream()
                .flatMap(part -> part.unmatched().stream())
                .forEach(argument -> problems.add(unknown(argument, command.isPresent(), line)));
        if (command.isEmpty() && problems.isEmpty()) {
            problems.add("no command given; there are " + commandNames());
        }
        Map<String, String> flags = new HashMap<>();
        for (OptionSpec option : result.matchedOptions()) {
            flags.put(option.longestName().substring(2), option.getValue());
        }
        return new Parsed(command, flags, problems, Optional.empty());
    }

    /** The program, then the command, in its group if it has one. */
    private static List<ParseResult> path(ParseResult root) {
        List<ParseResult> path = new ArrayList<>(List.of(root));
        while (path.getLast().hasSubcommand()) {
            path.add(path.getLast().subcommand());
        }
        return path;
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
