// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.room;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import org.junit.jupiter.api.Test;

class RecentPeakTest {
    private static final long WINDOW_MS = Bounds.DEMAND_MS;
    private final RecentPeak peak = new RecentPeak(1_000);

    @Test
    void isTheMostOfOneWindow() {
        peak.tick(0);
        for (long nowMs = 10; nowMs < WINDOW_MS; nowMs += 10) {
            peak.add(100);
            peak.tick(nowMs);
        }
        assertThat(peak.most()).isEqualTo(400);
        peak.tick(WINDOW_MS);
        peak.add(250);
        peak.tick(2 * WINDOW_MS);
        assertThat(peak.most()).isBetween(380L, 400L);
    }

    @Test
    void isForgottenByHalves() {
        peak.tick(0);
        peak.was(1_000);
        for (long nowMs = 10; nowMs <= 1_000; nowMs += 10) {
            peak.tick(nowMs);
        }
        assertThat(peak.most()).isBetween(495L, 520L);
        peak.tick(3_000);
        assertThat(peak.most()).isBetween(115L, 135L);
        peak.tick(100_000);
        assertThat(peak.most()).isZero();
    }
}
