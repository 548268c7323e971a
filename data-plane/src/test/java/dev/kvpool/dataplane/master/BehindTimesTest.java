// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BehindTimesTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    @Test
    void aNodeIsBehindSinceItWasFirstSeenSoAndAnewAfterItHadCaughtUp() {
        BehindTimes times = new BehindTimes();

        times.look(Set.of("a"), NOON.plusMillis(3));
        times.look(Set.of("a", "b"), NOON.plusSeconds(5));
        assertThat(times.since()).isEqualTo(Map.of("a", NOON, "b", NOON.plusSeconds(5)));

        times.look(Set.of("b"), NOON.plusSeconds(6));
        times.look(Set.of("a", "b"), NOON.plusSeconds(7));
        assertThat(times.since()).isEqualTo(Map.of("a", NOON.plusSeconds(7), "b", NOON.plusSeconds(5)));
    }
}
