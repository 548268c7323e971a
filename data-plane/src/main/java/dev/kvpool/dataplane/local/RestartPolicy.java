// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import java.time.Duration;

/**
 * When a process that died is started again: soon the first time, later each time it dies young, and never after too many
 * of those.
 */
final class RestartPolicy {
    static final int QUICK_DEATHS_MAX = 10;
    private static final Duration FIRST_DELAY = Duration.ofMillis(100);
    private static final Duration DELAY_MAX = Duration.ofSeconds(5);
    private static final Duration YOUNG = Duration.ofSeconds(20);

    private int quickDeaths;

    /** Takes note of a death after this time of life. */
    void died(Duration lived) {
        quickDeaths = lived.compareTo(YOUNG) < 0 ? quickDeaths + 1 : 1;
    }

    boolean givesUp() {
        return quickDeaths > QUICK_DEATHS_MAX;
    }

    /** How long to wait before the next start. */
    Duration delay() {
        Duration delay = FIRST_DELAY.multipliedBy(1L << Math.min(Math.max(quickDeaths - 1, 0), 10));
        return delay.compareTo(DELAY_MAX) < 0 ? delay : DELAY_MAX;
    }
}
