// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.cluster.ClusterOptions;
import dev.kvpool.operator.plugin.cluster.Clusters;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What every command has: a cluster, and somewhere to write. */
@Command(
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {"0:done", "1:it did not work; standard error says why", "2:wrong usage"})
public abstract class PoolCommand implements Callable<Integer> {
    @Mixin
    private ClusterOptions cluster;

    @SuppressWarnings("UnusedVariable") // picocli looks at it.
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    @Override
    public final Integer call() throws Exception {
        try (Cluster opened = ((Clusters) spec.root().userObject()).open(cluster)) {
            run(opened, spec.commandLine().getOut());
            return 0;
        }
    }

    /** Asks the person, beside the command's own answer. */
    protected final String answerTo(String question) {
        PrintWriter err = spec.commandLine().getErr();
        err.print(question);
        err.flush();
        return Objects.requireNonNullElse(((Clusters) spec.root().userObject()).typed(), "")
                .strip();
    }

    /** What others write to this process, to its end. */
    protected final String allTyped() {
        return Stream.generate(((Clusters) spec.root().userObject())::typed)
                .takeWhile(Objects::nonNull)
                .collect(Collectors.joining("\n"));
    }

    /** Does it; what it answers goes to {@code out}. */
    protected abstract void run(Cluster on, PrintWriter out) throws Exception;
}
