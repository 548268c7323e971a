// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.status;

import dev.kvpool.api.v1alpha1.status.Condition;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;

/** Makes conditions from findings. Pure: the same old conditions, findings and time give the same result. */
public final class Conditions {

    private Conditions() {}

    /**
     * Merges.
     *
     * @param old conditions so far; their transition times are kept where the status is the same
     * @param findings one for each condition type, in the order they shall have
     * @param generation generation of the spec the findings are about
     */
    public static List<Condition> merge(List<Condition> old, List<Finding> findings, long generation, Instant now) {
        String at = DateTimeFormatter.ISO_INSTANT.format(now.truncatedTo(ChronoUnit.SECONDS));
        return findings.stream()
                .map(finding -> merge(old, finding, generation, at))
                .toList();
    }

    private static Condition merge(List<Condition> old, Finding finding, long generation, String at) {
        Reason reason = finding.reason();
        String since = old.stream()
                .filter(condition -> condition.type().equals(reason.type().text()))
                .filter(condition -> condition.status() == reason.status())
                .map(Condition::lastTransitionTime)
                .findFirst()
                .orElse(at);
        return new Condition(
                reason.type().text(), reason.status(), generation, since, reason.text(), finding.message());
    }
}
