// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Members of a pool that enrol and whose certificates have ended, by what masters say: no authority tells of these. */
final class EndedCertificates {
    private static final int NAMED_MAX = 5;

    private EndedCertificates() {}

    static Optional<Finding> finding(PoolObservation seen) {
        Map<String, Instant> ends = new TreeMap<>();
        for (PoolReport report : seen.reports()) {
            PoolReport.Trust trust = report.trust();
            if (trust != null) {
                Optional.ofNullable(trust.own())
                        .ifPresent(own -> note("master/" + report.name(), own.notAfter(), ends));
                trust.members().forEach(member -> note(member.name(), member.notAfter(), ends));
            }
        }
        ends.values().removeIf(seen.now()::isBefore);
        List<String> names = List.copyOf(ends.keySet());
        String more = names.size() > NAMED_MAX ? " and %d more".formatted(names.size() - NAMED_MAX) : "";
        return names.isEmpty()
                ? Optional.empty()
                : Optional.of(new Finding(
                        Reason.CERTIFICATES_ENDED,
                        ("Certificates have ended and were not renewed, so that no process of the pool speaks with their owners: %s%s. The"
                                        + " first ended at %s. Their logs say why they got no other one (no certificate from a master).")
                                .formatted(
                                        NameList.of(names.subList(0, Math.min(NAMED_MAX, names.size()))),
                                        more,
                                        ends.values().stream()
                                                .min(Instant::compareTo)
                                                .orElseThrow())));
    }

    /** Each tells all masters; one that was away when it told of its last one knows the one before. */
    private static void note(String name, String end, Map<String, Instant> ends) {
        try {
            ends.merge(name, Instant.parse(end), (one, other) -> one.isAfter(other) ? one : other);
        } catch (DateTimeException e) {
            // An earlier version does not say.
        }
    }
}
