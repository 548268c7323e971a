// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.List;

/** Findings as people and programs read them. */
final class Report {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Report() {}

    /** A line for each finding, and a line with the way out below those that need one. */
    static String text(List<CheckResult> findings) {
        StringBuilder text = new StringBuilder();
        for (CheckResult finding : findings) {
            text.append("%-8s %s: %s%n".formatted(finding.level().text(), finding.subject(), finding.found()));
            if (!finding.remedy().isEmpty()) {
                text.append("%-8s   -> %s%n".formatted("", finding.remedy()));
            }
        }
        return text.append("%d problems, %d warnings%n"
                        .formatted(
                                count(findings, CheckResult.Level.PROBLEM), count(findings, CheckResult.Level.WARNING)))
                .toString();
    }

    /** {@code [{"level":"ok|warning|problem","subject":"","found":"","remedy":""}, ...]}. */
    static String json(List<CheckResult> findings) {
        ArrayNode list = JSON.createArrayNode();
        findings.forEach(finding -> list.addObject()
                .put("level", finding.level().text())
                .put("subject", finding.subject())
                .put("found", finding.found())
                .put("remedy", finding.remedy()));
        return list.toString();
    }

    static long count(List<CheckResult> findings, CheckResult.Level level) {
        return findings.stream().filter(finding -> finding.level() == level).count();
    }
}
