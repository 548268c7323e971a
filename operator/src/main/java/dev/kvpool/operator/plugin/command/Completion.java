// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.cluster.ClusterOptions;
import dev.kvpool.operator.plugin.cluster.Clusters;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * What may stand in the place of the last word of a command line. kubectl asks {@code kubectl_complete-kvpool}, and takes one word a
 * line, with what it means after a tab, and a number in the last line that says what else the shell may offer.
 */
public final class Completion {
    /** The first argument of such a question, as in what kubectl's own library makes. */
    public static final String QUESTION = "__complete";

    private static final String NO_FILES = ":4";
    private static final String FILES_TOO = ":0";

    private final CommandSpec root;

    public Completion(CommandLine root) {
        this.root = root.getCommandSpec();
    }

    /**
     * Writes the answer. A cluster that cannot be asked is no reason to say anything.
     *
     * @param words of the command line, the last of them not finished, and empty when it is not begun
     */
    public void write(PrintWriter out, List<String> words) {
        String begun = words.isEmpty() ? "" : words.getLast();
        List<String> before = words.isEmpty() ? List.of() : words.subList(0, words.size() - 1);
        CommandLine command = before.isEmpty() ? null : root.subcommands().get(before.getFirst());
        boolean files = false;
        Stream<String> candidates;
        if (command == null) {
            candidates = before.isEmpty() ? commands() : Stream.of();
        } else {
            CommandSpec spec = command.getCommandSpec();
            OptionSpec unfinished = before.size() < 2 ? null : takesValue(spec, before.getLast());
            files = unfinished != null && "FILE".equals(unfinished.paramLabel());
            candidates = unfinished != null
                    ? values(unfinished)
                    : begun.startsWith("-") ? options(spec) : parameters(spec, before.subList(1, before.size()));
        }
        candidates.filter(candidate -> candidate.startsWith(begun)).forEach(out::println);
        out.println(files ? FILES_TOO : NO_FILES);
        out.flush();
    }

    private Stream<String> commands() {
        return root.subcommands().entrySet().stream()
                .map(command -> described(
                        command.getKey(),
                        command.getValue().getCommandSpec().usageMessage().description()));
    }

    private static Stream<String> options(CommandSpec spec) {
        return spec.options().stream().map(option -> described(option.longestName(), option.description()));
    }

    private static String described(String word, String... description) {
        return description.length == 0 ? word : word + "\t" + description[0];
    }

    private static OptionSpec takesValue(CommandSpec spec, String word) {
        OptionSpec option = spec.findOption(word);
        return option == null || option.arity().max() == 0 ? null : option;
    }

    private static Stream<String> values(OptionSpec option) {
        return option.completionCandidates() == null
                ? Stream.of()
                : StreamSupport.stream(option.completionCandidates().spliterator(), false);
    }

    /** Names from the cluster: of pools, and of the storage nodes of the pool that is named. */
    private Stream<String> parameters(CommandSpec spec, List<String> words) {
        List<String> given = new ArrayList<>();
        for (int i = 0; i < words.size(); i++) {
            if (!words.get(i).startsWith("-") && (i == 0 || takesValue(spec, words.get(i - 1)) == null)) {
                given.add(words.get(i));
            }
        }
        List<PositionalParamSpec> wanted = spec.positionalParameters();
        if (given.size() >= wanted.size()) {
            return Stream.of();
        }
        try (Cluster cluster = ((Clusters) root.userObject()).open(clusterOptions(words))) {
            return switch (wanted.get(given.size()).paramLabel()) {
                case "POOL" -> cluster.poolNames().stream();
                case "NODE" ->
                    cluster.pods(given.getFirst()).stream()
                            .map(ObservedPod::of)
                            .filter(pod -> pod.role().equals(PoolLabels.ROLE_STORAGE))
                            .map(ObservedPod::nodeId);
                default -> Stream.of();
            };
        } catch (KubernetesClientException | PluginException e) {
            return Stream.of();
        }
    }

    private static ClusterOptions clusterOptions(List<String> words) {
        ClusterOptions options = new ClusterOptions();
        new CommandLine(options).setUnmatchedArgumentsAllowed(true).parseArgs(words.toArray(String[]::new));
        return options;
    }
}
