// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

import dev.kvpool.dataplane.GeneratedPage;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The series of a process as a document, made from what it answers at {@code /metrics}. The chart's alerts and dashboard are checked
 * against these documents, so that none asks for a series that nobody has.
 */
public final class MetricsDocument {
    private static final Map<String, String> ROLES =
            Map.of("master", "a master", "node", "a storage node", "agent", "an agent");
    private static final List<String> OWN = List.of("kvpool_", "master_", "segment_", "mooncake_");

    private MetricsDocument() {}

    /**
     * Fails when the committed document is not of these series; {@code -Ddocs.update=true} writes it.
     *
     * @param role master, node or agent
     * @param scrape answer of {@code /metrics}
     */
    public static void assertCurrent(String role, String scrape) throws IOException {
        GeneratedPage.assertCurrent("metrics-" + role + ".md", of(role, scrape));
    }

    /** Only our own series: those of the Java machine beside them depend on its version. */
    private static String of(String role, String scrape) {
        Map<String, String> types = new TreeMap<>();
        Map<String, String> meanings = new TreeMap<>();
        scrape.lines()
                .map(line -> line.split(" ", 4))
                .filter(words -> words.length == 4 && words[0].equals("#"))
                .filter(words -> OWN.stream().anyMatch(words[2]::startsWith))
                .forEach(words -> (words[1].equals("TYPE") ? types : meanings).put(words[2], words[3]));
        StringBuilder text = new StringBuilder("# Metrics of %s\n\n".formatted(ROLES.get(role)))
                .append("Generated from the process's answer at `/metrics`; a test fails when this page is stale.\n\n")
                .append("| series | type | meaning |\n|---|---|---|\n");
        types.forEach((name, type) -> text.append("| `%s` | %s | %s |\n".formatted(name, type, meanings.get(name))));
        return text.toString();
    }
}
