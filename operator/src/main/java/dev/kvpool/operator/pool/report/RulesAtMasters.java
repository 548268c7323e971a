// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.child.part.CacheRules;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Which masters do not go by the spec's rules of the cache yet. One that does not say reads them only when it starts. Pure. */
public final class RulesAtMasters {
    private RulesAtMasters() {}

    /** A sentence about those that will soon, and one about each that has a problem; none when all do. */
    public static List<String> sentences(PoolObservation seen) {
        CacheRules rules = CacheRules.of(seen.spec());
        String wanted = rules.digest();
        String fields = rules.quotas().isEmpty() ? "spec.cache" : "spec.cache and spec.tenants";
        List<PoolReport> behind = seen.reports().stream()
                .filter(report -> report.cacheRules() != null)
                .filter(report -> !report.cacheRules().digest().equals(wanted))
                .toList();
        List<String> sentences = new ArrayList<>();
        List<String> waiting = names(behind, problem -> problem.isEmpty());
        if (!waiting.isEmpty()) {
            sentences.add("%s did not read the rules of %s yet.".formatted(NameList.of(waiting), fields));
        }
        behind.stream()
                .filter(report -> !report.cacheRules().problem().isEmpty())
                .limit(PodTroubles.PODS_MAX)
                .map(report -> "%s keeps other rules than those of %s: %s."
                        .formatted(report.name(), fields, report.cacheRules().problem()))
                .sorted()
                .forEach(sentences::add);
        return sentences;
    }

    private static List<String> names(List<PoolReport> reports, Predicate<String> problem) {
        return reports.stream()
                .filter(report -> problem.test(report.cacheRules().problem()))
                .map(PoolReport::name)
                .sorted()
                .toList();
    }
}
