// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin;

import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.cluster.ClusterOptions;
import dev.kvpool.operator.plugin.cluster.Clusters;
import dev.kvpool.operator.plugin.command.ClientConfigCommand;
import dev.kvpool.operator.plugin.command.Completion;
import dev.kvpool.operator.plugin.command.DrainCommand;
import dev.kvpool.operator.plugin.command.FailoverCommand;
import dev.kvpool.operator.plugin.command.ForgetCommand;
import dev.kvpool.operator.plugin.command.PauseCommand;
import dev.kvpool.operator.plugin.command.PlanCommand;
import dev.kvpool.operator.plugin.command.PoolCommand;
import dev.kvpool.operator.plugin.command.ReportCommand;
import dev.kvpool.operator.plugin.command.RestartCommand;
import dev.kvpool.operator.plugin.command.ResumeCommand;
import dev.kvpool.operator.plugin.command.RetryCommand;
import dev.kvpool.operator.plugin.command.RotateCaCommand;
import dev.kvpool.operator.plugin.command.StatusCommand;
import dev.kvpool.operator.plugin.command.WhyCommand;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.plugin.failure.Sentences;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.Option;

/** {@code kubectl kvpool}: looks at pools, and does by hand what is otherwise the operator's to do. */
@Command(
        name = "kubectl kvpool",
        description = "Looks at kvpool pools, and does by hand what a person may want to do.",
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {"0:done", "1:it did not work; standard error says why", "2:wrong usage"})
public final class KubectlKvpool implements Clusters {
    private static final int FAILED = 1;

    /** In the order in which they are told. picocli makes the model of a command by reflection, so only what is named on the line is made. */
    private static final Map<String, Supplier<PoolCommand>> COMMANDS = commands();

    private final Function<ClusterOptions, Cluster> clusters;
    private final BufferedReader input;

    @SuppressWarnings("UnusedVariable") // picocli looks at it.
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this.")
    private boolean help;

    public KubectlKvpool(Function<ClusterOptions, Cluster> clusters, Reader input) {
        this.clusters = clusters;
        this.input = new BufferedReader(input);
    }

    /** Runs one command and ends the process with its exit code. */
    public static void main(String[] arguments) {
        System.exit(run(System.in, System.out, System.err, arguments));
    }

    /** Runs one command on the cluster of the kubeconfig, and answers its exit code. */
    public static int run(InputStream in, OutputStream out, OutputStream err, String... arguments) {
        Cluster.getReady();
        return new KubectlKvpool(Cluster::open, new InputStreamReader(in, StandardCharsets.UTF_8))
                .run(
                        new PrintWriter(out, true, StandardCharsets.UTF_8),
                        new PrintWriter(err, true, StandardCharsets.UTF_8),
                        arguments);
    }

    /** Runs one command; the answer goes to {@code out}, everything else to {@code err}. */
    public int run(PrintWriter out, PrintWriter err, String... arguments) {
        IExecutionExceptionHandler told = (e, command, parsed) -> {
            err.println("error: " + sentence(e));
            err.flush();
            return FAILED;
        };
        List<String> words = List.of(arguments);
        boolean question = !words.isEmpty() && Completion.QUESTION.equals(words.getFirst());
        if (question) {
            words = words.subList(1, words.size());
        }
        // What stands last in a question is not finished.
        String command = words.size() > (question ? 1 : 0) ? words.getFirst() : "";
        CommandLine line = new CommandLine(this);
        COMMANDS.forEach((name, made) -> {
            if (name.equals(command) || !COMMANDS.containsKey(command)) {
                line.addSubcommand(name, made.get());
            }
        });
        line.setOut(out).setErr(err).setCaseInsensitiveEnumValuesAllowed(true).setExecutionExceptionHandler(told);
        if (question) {
            new Completion(line).write(out, words);
            return 0;
        }
        return line.execute(words.isEmpty() ? new String[] {"--help"} : arguments);
    }

    private static Map<String, Supplier<PoolCommand>> commands() {
        Map<String, Supplier<PoolCommand>> commands = new LinkedHashMap<>();
        commands.put("status", StatusCommand::new);
        commands.put("why", WhyCommand::new);
        commands.put("plan", PlanCommand::new);
        commands.put("restart", RestartCommand::new);
        commands.put("rotate-ca", RotateCaCommand::new);
        commands.put("retry", RetryCommand::new);
        commands.put("drain", DrainCommand::new);
        commands.put("forget", ForgetCommand::new);
        commands.put("failover", FailoverCommand::new);
        commands.put("pause", PauseCommand::new);
        commands.put("resume", ResumeCommand::new);
        commands.put("report", ReportCommand::new);
        commands.put("client-config", ClientConfigCommand::new);
        return commands;
    }

    @Override
    public Cluster open(ClusterOptions options) {
        return clusters.apply(options);
    }

    @Override
    public String typed() {
        try {
            return input.readLine();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String sentence(Exception e) throws Exception {
        return switch (e) {
            case PluginException known -> known.getMessage();
            case KubernetesClientException refused -> Sentences.of(refused);
            default -> throw e;
        };
    }
}
