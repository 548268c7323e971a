// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What counts as a hang and what does not. */
class HangWatchTest {
    private final List<String> found = new ArrayList<>();
    private Throwable cause;
    private long nowMs = 1_000;
    private final Beat beat = new Beat(() -> nowMs);
    private final HangWatch watch = new HangWatch("the core", beat::ageMs, beat::position, (what, why) -> {
        found.add(what);
        cause = why;
    });

    @Test
    void twentyLooksWithoutATurnAreAHang() {
        beat.stamp();
        for (int i = 1; i < HangWatch.LOOKS_MAX; i++) {
            assertThat(look(HangWatch.LOOK_MS)).isFalse();
        }
        assertThat(look(HangWatch.LOOK_MS)).isTrue();
        assertThat(found).containsExactly("the core has done nothing for 20000 ms");
        assertThat(cause.getStackTrace()).as("where it hangs").isNotEmpty();
    }

    @Test
    void aTurnBeginsTheCountAgain() {
        for (int i = 0; i < 10 * HangWatch.LOOKS_MAX; i++) {
            boolean turns = i % HangWatch.LOOKS_MAX == 0;
            if (turns) {
                beat.stamp();
            }
            assertThat(look(turns ? 10 : HangWatch.LOOK_MS)).isFalse();
        }
    }

    /** As by SIGSTOP, a collector or a machine that slept: the watch was stopped as well. */
    @Test
    void aPauseOfTheWholeProcessIsNone() {
        for (int i = 0; i < 10; i++) {
            assertThat(look(3_600_000)).isFalse();
            beat.stamp();
            assertThat(look(HangWatch.LOOK_MS - 1)).isFalse();
        }
        assertThat(found).isEmpty();
    }

    private boolean look(long afterMs) {
        nowMs += afterMs;
        return watch.look();
    }
}
