// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Judges how far the masters' clocks are from ours. */
final class ClockChecks {
    /**
     * Elections and leases of objects go by clocks that nobody sets, so no skew can harm them. Beyond this, what two machines
     * wrote down cannot be put in order by hand any more.
     */
    private static final Duration SKEW_MAX = Duration.ofSeconds(2);

    /** A Date has whole seconds, so the true time lies up to this much after it. */
    private static final Duration RESOLUTION = Duration.ofSeconds(1);

    private ClockChecks() {}

    static List<CheckResult> judge(List<ClockReading> readings) {
        return readings.stream().map(ClockChecks::judge).toList();
    }

    private static CheckResult judge(ClockReading reading) {
        String subject = "clock of " + reading.admin();
        if (reading.told().isEmpty()) {
            return CheckResult.problem(
                    subject,
                    "not reached: " + reading.failure(),
                    "look whether the master runs, and whether --admins names admin ports (9003), not wire ports");
        }
        Duration skew = skew(reading);
        if (skew.abs().compareTo(SKEW_MAX) <= 0) {
            return CheckResult.ok(subject, "within " + SKEW_MAX.toSeconds() + " s of ours");
        }
        return CheckResult.warning(
                subject,
                "at least " + skew.abs().toMillis() + " ms " + (skew.isNegative() ? "behind" : "ahead of") + " ours",
                "run chrony or another NTP client on both machines; leadership and leases do not go by it, but the times in logs,"
                        + " in the eviction log and in the Lease cannot be compared with those of other machines");
    }

    /** What is certain: 0 while the true time may lie between question and answer. */
    private static Duration skew(ClockReading reading) {
        Instant earliest = reading.told().orElseThrow();
        Instant latest = earliest.plus(RESOLUTION);
        if (earliest.isAfter(reading.heard())) {
            return Duration.between(reading.heard(), earliest);
        }
        if (latest.isBefore(reading.asked())) {
            return Duration.between(reading.asked(), latest);
        }
        return Duration.ZERO;
    }
}
