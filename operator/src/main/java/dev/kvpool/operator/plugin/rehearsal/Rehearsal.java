// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.rehearsal;

import dev.kvpool.operator.plugin.KubectlKvpool;
import dev.kvpool.operator.plugin.cluster.Cluster;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Runs commands against an API server in this process, so that Java notes which classes they load ({@code -XX:AOTMode=record}), and the
 * archive's processes start from there.
 */
public final class Rehearsal {
    private static final List<List<String>> COMMANDS = List.of(
            List.of("--help"),
            List.of("status"),
            List.of("status", "demo"),
            List.of("status", "demo", "-o", "json"),
            List.of("status", "-o", "yaml"),
            List.of("plan", "demo"),
            List.of("why", "demo", "key"),
            List.of("__complete", "status", ""),
            List.of("restart", "demo"));

    private Rehearsal() {}

    /** Runs all of them; the first that fails ends the process. */
    public static void main(String[] arguments) throws IOException {
        PretendedApi api = PretendedApi.start();
        Path directory = Files.createTempDirectory("kubectl-kvpool-rehearsal-");
        Path kubeconfig = directory.resolve("kubeconfig");
        int failed = 0;
        try {
            Files.writeString(kubeconfig, api.kubeconfig());
            System.setProperty("kubeconfig", kubeconfig.toString());
            for (List<String> command : COMMANDS) {
                failed += run(command);
            }
        } finally {
            Files.delete(kubeconfig);
            Files.delete(directory);
        }
        System.exit(failed == 0 ? 0 : 1);
    }

    private static int run(List<String> command) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status = new KubectlKvpool(Cluster::open, Reader.nullReader())
                .run(new PrintWriter(out), new PrintWriter(err), command.toArray(String[]::new));
        if (status != 0) {
            System.err.println("rehearsal: %s: %s%s".formatted(String.join(" ", command), out, err));
        }
        return status;
    }
}
