// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code report}: collects a support bundle in one file. */
@Command(
        description = {
            "Collects a support bundle into one zip file: the pool, its objects and pods, events, what masters,"
                    + " storage nodes and agents say, metrics, the ends of their logs.",
            "Never in it: Secrets, object keys and their bytes, credentials. Values of variables that kvpool does not know, and"
                    + " whatever looks like a token, password or private key, are replaced."
        })
public final class ReportCommand extends PoolCommand {
    private static final DateTimeFormatter STAMP =
            DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").withZone(ZoneOffset.UTC);

    @Parameters(paramLabel = "POOL", description = "The pool.")
    private String pool;

    @Option(
            names = "--file",
            paramLabel = "PATH",
            description = "Where to; POOL-report-TIME.zip here otherwise. Not overwritten.")
    private Path file;

    @Option(
            names = "--log-lines",
            paramLabel = "N",
            defaultValue = "2000",
            description = "Lines of each container's log, from its end; 0 for none, 2000 by default, 100000 at most.")
    private int logLines;

    @Override
    protected void run(Cluster on, PrintWriter out) throws IOException {
        if (logLines < 0 || logLines > Bundle.LOG_LINES_MAX) {
            throw new PluginException("--log-lines must be 0 to %d, not %d".formatted(Bundle.LOG_LINES_MAX, logLines));
        }
        Path target = file == null ? Path.of("%s-report-%s.zip".formatted(pool, STAMP.format(Instant.now()))) : file;
        if (Files.exists(target)) {
            throw new PluginException("%s exists already; name another with --file".formatted(target));
        }
        PoolObservation seen = on.observe(pool);
        Map<String, String> entries = new Bundle(on, logLines).of(seen);
        write(target, entries);
        out.println("%s: %d files; look into it before you pass it on".formatted(target, entries.size()));
    }

    private static void write(Path target, Map<String, String> entries) throws IOException {
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(target))) {
            for (Map.Entry<String, String> entry : entries.entrySet()) {
                zip.putNextEntry(new ZipEntry(entry.getKey()));
                zip.write(entry.getValue().getBytes(java.nio.charset.StandardCharsets.UTF_8));
                zip.closeEntry();
            }
        }
    }
}
