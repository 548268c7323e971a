// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.rehearsal;

import dev.kvpool.operator.plugin.KubectlKvpool;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
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
            List.of("status", "secure"),
            List.of("status", "demo", "-o", "json"),
            List.of("status", "-o", "yaml"),
            List.of("plan", "demo"),
            List.of("why", "demo", "key"),
            List.of("why", "secure", "key"),
            List.of("__complete", "status", ""),
            List.of("restart", "demo"));

    private Rehearsal() {}

    /** Runs all of them on a cluster with RSA keys and on one with EC keys; if one fails, so does the process. */
    public static void main(String[] arguments) throws IOException {
        int failed = 0;
        for (String algorithm : List.of("RSA", "EC")) {
            failed += run(PretendedApi.start(algorithm));
        }
        System.exit(failed == 0 ? 0 : 1);
    }

    private static int run(PretendedApi api) throws IOException {
        Path directory = Files.createTempDirectory("kubectl-kvpool-rehearsal-");
        Path kubeconfig = directory.resolve("kubeconfig");
        try {
            Files.writeString(kubeconfig, api.kubeconfig());
            System.setProperty("kubeconfig", kubeconfig.toString());
            return COMMANDS.stream().mapToInt(Rehearsal::run).sum();
        } finally {
            Files.delete(kubeconfig);
            Files.delete(directory);
        }
    }

    private static int run(List<String> command) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int status = KubectlKvpool.run(InputStream.nullInputStream(), out, err, command.toArray(String[]::new));
        if (status != 0) {
            System.err.println("rehearsal: %s: %s%s"
                    .formatted(
                            String.join(" ", command),
                            out.toString(StandardCharsets.UTF_8),
                            err.toString(StandardCharsets.UTF_8)));
        }
        return status;
    }
}
