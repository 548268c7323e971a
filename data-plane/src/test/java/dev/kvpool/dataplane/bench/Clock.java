// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.bench;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;

/**
 * The time as the loop has it: what its thread has run, and what the collector has held it up. Neighbours on the machine do
 * not count, or a shared machine would be measured instead of the index. The collector's pauses count in real time, so
 * neighbours make those longer, never shorter.
 */
final class Clock {
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    /** Those that stop the world; what runs beside the loop takes nothing from it but a core. */
    private final List<GarbageCollectorMXBean> pausing = ManagementFactory.getGarbageCollectorMXBeans().stream()
            .filter(bean -> !bean.getName().contains("Cycles"))
            .toList();

    private long collections = count();
    private long pausedMs = paused();
    private final long pausedBeforeMs = pausedMs;
    private long longestMs;

    long nanos() {
        if (count() != collections) {
            collections = count();
            long now = paused();
            longestMs = Math.max(longestMs, now - pausedMs);
            pausedMs = now;
        }
        return threads.getCurrentThreadCpuTime() + (pausedMs - pausedBeforeMs) * 1_000_000;
    }

    /** The longest time the collector took between two looks at the clock. */
    long longestPauseMs() {
        return longestMs;
    }

    private long count() {
        long count = 0;
        for (GarbageCollectorMXBean bean : pausing) {
            count += bean.getCollectionCount();
        }
        return count;
    }

    private long paused() {
        long time = 0;
        for (GarbageCollectorMXBean bean : pausing) {
            time += bean.getCollectionTime();
        }
        return time;
    }
}
