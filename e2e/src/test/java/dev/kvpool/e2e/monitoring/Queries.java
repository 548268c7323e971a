// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * What the chart asks Prometheus.
 *
 * @param ofRules expressions of the alerts
 * @param ofDashboard those of its panels, about one pool
 */
public record Queries(List<String> ofRules, List<String> ofDashboard) {
    private static final Pattern SERIES = Pattern.compile("\\b(?:kvpool|master|reconciliations)_[a-z_]+[a-z]\\b");

    /** Begins like a series, and is a label. */
    private static final Pattern LABEL = Pattern.compile("kvpool_dev_[a-z]+");

    private static final String RATE = "30s";

    /**
     * Reads them.
     *
     * @param rule a PrometheusRule
     * @param dashboard file for Grafana
     */
    public static Queries of(JsonNode rule, Path dashboard, String namespace, String pool) throws IOException {
        List<String> panels = new ArrayList<>();
        new ObjectMapper()
                .readTree(dashboard.toFile())
                .findValuesAsText("expr")
                .forEach(expression -> panels.add(expression
                        .replace("$__rate_interval", RATE)
                        .replace("$__range", RATE)
                        .replace("$namespace", namespace)
                        .replace("$pool", pool)));
        return new Queries(rule.findValuesAsText("expr"), panels);
    }

    /** Names of the series that they are about. */
    public Set<String> series() {
        Set<String> names = new TreeSet<>();
        for (List<String> expressions : List.of(ofRules, ofDashboard)) {
            for (String expression : expressions) {
                SERIES.matcher(LABEL.matcher(expression).replaceAll(""))
                        .results()
                        .forEach(found -> names.add(found.group()));
            }
        }
        return names;
    }
}
