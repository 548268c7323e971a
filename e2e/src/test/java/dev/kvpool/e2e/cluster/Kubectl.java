// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.cluster;

import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The kubectl that people use, pointed at the cluster under test. */
public final class Kubectl {

    private final String program;
    private final Path kubeconfig;
    private final List<String> flags;

    Kubectl(String program, Path kubeconfig) {
        this(program, kubeconfig, List.of());
    }

    private Kubectl(String program, Path kubeconfig, List<String> flags) {
        this.program = program;
        this.kubeconfig = kubeconfig;
        this.flags = flags;
    }

    /** The same by a user who has the rights that were given to that name, and no others. */
    public Kubectl as(String user) {
        return new Kubectl(program, kubeconfig, List.of("--as=" + user));
    }

    /** Runs kubectl and returns what it printed. @throws IllegalStateException when it fails */
    public String run(String... arguments) {
        return attempt("", arguments).orThrow();
    }

    /** Applies YAML. @throws IllegalStateException with the server's words when it is refused */
    public String apply(String namespace, String yaml) {
        return attempt(yaml, "apply", "--namespace", namespace, "-f", "-").orThrow();
    }

    /** Runs kubectl with the given standard input, for callers that expect it to fail. */
    public Command.Result attempt(String input, String... arguments) {
        return attempt(input, Limits.KUBECTL, arguments);
    }

    /**
     * Empties a node as people do before its maintenance, while its pods' controllers and budgets say how fast.
     *
     * @param limit after which kubectl gives up
     */
    public Command.Result drain(String node, Duration limit) {
        return attempt(
                "",
                limit.plus(Limits.KUBECTL),
                "drain",
                node,
                "--ignore-daemonsets",
                "--delete-emptydir-data",
                "--timeout=" + limit.toSeconds() + "s");
    }

    private Command.Result attempt(String input, Duration limit, String... arguments) {
        List<String> words = new ArrayList<>(List.of(program));
        words.addAll(flags);
        words.addAll(List.of(arguments));
        return new Command(words, Map.of("KUBECONFIG", kubeconfig.toString()), input, limit).run();
    }

    /**
     * Runs a plugin of kubectl.
     *
     * @param folder where it is
     * @param name what it is called after {@code kubectl}
     */
    public Command.Result plugin(Path folder, String name, String namespace, String... arguments) {
        List<String> words = new ArrayList<>(List.of(program, name));
        words.addAll(List.of(arguments));
        words.addAll(List.of("--namespace", namespace));
        String path = folder + File.pathSeparator + System.getenv("PATH");
        return new Command(words, Map.of("KUBECONFIG", kubeconfig.toString(), "PATH", path), "", Limits.KUBECTL).run();
    }

    /** The rows of a table that kubectl printed, each as its cells; the first row holds the columns' names. */
    public static List<List<String>> rows(String table) {
        // Cells are separated by at least two spaces, since a cell such as a phase may hold single ones.
        return table.lines().map(line -> List.of(line.strip().split("\\s{2,}"))).toList();
    }

    /** Waits as `kubectl wait` does. */
    public void awaitCondition(String namespace, String what, String condition, Duration limit) {
        run("wait", "--namespace", namespace, "--for=" + condition, "--timeout=" + limit.toSeconds() + "s", what);
    }
}
