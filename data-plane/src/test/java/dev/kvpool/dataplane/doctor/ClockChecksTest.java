// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.doctor.CheckResult.Level;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClockChecksTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00.400Z");

    @ParameterizedTest
    @CsvSource({
        "2026-01-01T00:00:00Z, OK, within",
        "2026-01-01T00:00:02Z, OK, within",
        "2026-01-01T00:00:03Z, WARNING, at least 2500 ms ahead of",
        "2025-12-31T23:59:58Z, OK, within",
        "2025-12-31T23:59:57Z, WARNING, at least 2400 ms behind",
        "1970-01-01T00:00:01Z, WARNING, behind"
    })
    void onlyACertainSkewCounts(Instant told, Level level, String text) {
        ClockReading reading =
                new ClockReading(HostPort.parse("m0:9003"), Optional.of(told), NOW, NOW.plusMillis(100), "");

        assertThat(ClockChecks.judge(List.of(reading)))
                .singleElement()
                .satisfies(finding -> assertThat(finding.level()).isEqualTo(level))
                .satisfies(finding -> assertThat(finding.found()).contains(text));
    }

    /** What an election goes by: docs/decisions/own-clock-decides.md. */
    @Test
    void aSkewIsSaidToHarmWhoReadsTimesAndNobodyElse() {
        ClockReading reading =
                new ClockReading(HostPort.parse("m0:9003"), Optional.of(NOW.plusSeconds(60)), NOW, NOW, "");

        assertThat(ClockChecks.judge(List.of(reading)))
                .singleElement()
                .satisfies(finding -> assertThat(finding.remedy())
                        .contains("NTP", "leadership and leases do not go by it", "logs", "eviction log"));
    }

    @Test
    void aMasterThatCannotBeAskedIsAProblem() {
        ClockReading reading =
                new ClockReading(HostPort.parse("m0:9003"), Optional.empty(), NOW, NOW, "Connection refused");

        assertThat(ClockChecks.judge(List.of(reading)))
                .singleElement()
                .satisfies(finding -> assertThat(finding.level()).isEqualTo(Level.PROBLEM))
                .satisfies(finding -> assertThat(finding.found()).contains("Connection refused"));
    }
}
