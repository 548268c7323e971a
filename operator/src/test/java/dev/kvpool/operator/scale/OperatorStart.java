// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.scale;

import dev.kvpool.operator.apiserver.ApiServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures how the shipped program starts with flags of several kinds, in turn, against a real API server. */
@Command(
        name = "operator-start",
        mixinStandardHelpOptions = true,
        description =
                "Starts the operator with each kind of flags in turn: time until it is ready, processor time, memory.")
public final class OperatorStart implements Callable<Integer> {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final long LOOK_MILLIS = 20;

    @Option(names = "--rounds", defaultValue = "5", description = "Starts of each kind (default ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(names = "--jvm-options", required = true, description = "Flags that all have.")
    private String jvmOptions;

    @Option(names = "--with", required = true, description = "NAME=FLAGS: a kind, and the flags it has besides.")
    private final Map<String, String> kinds = new LinkedHashMap<>();

    private OperatorStart() {}

    private record Start(double seconds, double processorSeconds, double residentMib) {}

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new OperatorStart()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException {
        ApiServer api = ApiServer.shared();
        api.applyElectionRights();
        Path log = Files.createTempFile("operator-start", ".log");
        Path kubeconfig = Files.writeString(Files.createTempFile("operator-start", ".kubeconfig"), api.kubeconfig());
        Map<String, List<Start>> starts = new LinkedHashMap<>();
        try {
            // One more, which is not counted: the first reads the program from disk.
            for (int round = 0; round <= rounds; round++) {
                for (Map.Entry<String, String> kind : kinds.entrySet()) {
                    Start start = start(kubeconfig, jvmOptions + " " + kind.getValue(), log);
                    if (round > 0) {
                        starts.computeIfAbsent(kind.getKey(), any -> new ArrayList<>())
                                .add(start);
                    }
                }
            }
        } finally {
            Files.delete(kubeconfig);
        }
        System.out.println("the operator's log: " + log);
        starts.forEach((kind, all) -> System.out.printf(
                "%-16s ready after %s s; processor %s s; resident %s MiB%n",
                kind,
                summary(all, Start::seconds, "%.2f"),
                summary(all, Start::processorSeconds, "%.2f"),
                summary(all, Start::residentMib, "%.0f")));
        return 0;
    }

    private static Start start(Path kubeconfig, String flags, Path log) throws IOException {
        long begin = System.nanoTime();
        try (OperatorProcess operator = OperatorProcess.start(kubeconfig, ApiServer.OPERATOR_USER, flags, log)) {
            while (!operator.isUp()) {
                if (System.nanoTime() - begin > LIMIT.toNanos()) {
                    throw new IllegalStateException("not ready within " + LIMIT + "; see " + log);
                }
                OperatorScale.sleep(Duration.ofMillis(LOOK_MILLIS));
            }
            return new Start(
                    (System.nanoTime() - begin) / 1e9, operator.cpu().toMillis() / 1e3, operator.residentMib());
        }
    }

    /** The median, and the least and the most in brackets. */
    private static String summary(List<Start> starts, ToDoubleFunction<Start> figure, String format) {
        double[] sorted = starts.stream().mapToDouble(figure).sorted().toArray();
        return (format + " (" + format + " to " + format + ")")
                .formatted(sorted[sorted.length / 2], sorted[0], sorted[sorted.length - 1]);
    }
}
