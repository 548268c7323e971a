// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * The series of a process as a document, made from what it answers at {@code /metrics}. The chart's alerts and dashboard are checked
 * against these documents, so that none asks for a series that nobody has.
 */
public final class MetricsDocument {
    private static final Path FOLDER = Path.of("docs");

    private MetricsDocument() {}

    /**
     * Fails when the committed document is not of these series; {@code -Ddocs.update=true} writes it.
     *
     * @param role master or node
     * @param scrape answer of {@code /metrics}
     */
    public static void assertCurrent(String role, String scrape) throws IOException {
        Path document = FOLDER.resolve("metrics-" + role + ".md");
        String current = of(role, scrape);
        if (Boolean.getBoolean("docs.update")) {
            Files.writeString(document, current);
        }
        assertThat(Files.readString(document))
                .as("%s is stale; -Ddocs.update=true writes it anew", document)
                .isEqualTo(current);
    }

    /** Only our own series: those of the Java machine beside them depend on its version. */
    private static String of(String role, String scrape) {
        Map<String, String> types = new TreeMap<>();
        Map<String, String> meanings = new TreeMap<>();
        scrape.lines()
                .map(line -> line.split(" ", 4))
                .filter(words -> words.length == 4 && words[0].equals("#"))
                .filter(words -> words[2].startsWith("kvpool_") || words[2].startsWith("master_"))
                .forEach(words -> (words[1].equals("TYPE") ? types : meanings).put(words[2], words[3]));
        StringBuilder text = new StringBuilder("# Metrics of a %s\n\n".formatted(role))
                .append("Made from what it answers at `/metrics`; a test keeps it current.\n\n")
                .append("| series | type | meaning |\n|---|---|---|\n");
        types.forEach((name, type) -> text.append("| `%s` | %s | %s |\n".formatted(name, type, meanings.get(name))));
        return text.toString();
    }
}
