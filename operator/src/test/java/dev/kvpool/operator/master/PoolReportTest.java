// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.master.PoolReport.Behind;
import dev.kvpool.operator.master.PoolReport.Register;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PoolReportTest {
    private static final Behind NOON = new Behind("12:00:00Z");
    private static final Behind ONE = new Behind("13:00:00Z");

    @Test
    void whoIsBehindSinceTheSameTimeIsOneSentence() {
        assertThat(sentence(Map.of())).isEmpty();
        assertThat(sentence(Map.of("a", NOON)))
                .isEqualTo(" a missed removals or replacements since 12:00:00Z at the latest."
                        + " Until it has caught up, what it held before is checked or unavailable.");
        assertThat(sentence(Map.of("c", NOON, "a", NOON, "b", ONE)))
                .isEqualTo(" a, c missed removals or replacements since 12:00:00Z at the latest."
                        + " b missed removals or replacements since 13:00:00Z at the latest."
                        + " Until they have caught up, what they held before is checked or unavailable.");
        assertThat(sentence(Map.of("a", NOON, "b", NOON, "c", NOON, "d", NOON, "e", ONE)))
                .isEqualTo(" a, b, c missed removals or replacements since 12:00:00Z at the latest. So did 2 more."
                        + " Until they have caught up, what they held before is checked or unavailable.");
    }

    /** So masters write the number of a process that they have never met. It holds what it holds. */
    @Test
    void aStorageNodeThatNoLeaderHasMetHasNoIncarnation() {
        PoolReport.Node unmet = Reports.node("a", "away")
                .with("incarnation", "0000000000000000")
                .build();
        assertThat(unmet.incarnation()).isEmpty();
    }

    private static String sentence(Map<String, Behind> behind) {
        return new Register(false, behind, List.of()).sentence();
    }
}
