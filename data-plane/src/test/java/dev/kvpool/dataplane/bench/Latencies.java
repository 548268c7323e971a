// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.bench;

import java.util.Arrays;

/** Times in nanoseconds, every one of them kept. */
final class Latencies {
    private int[] nanos;
    private int count;

    /** Room for so many from the start, so that measuring gives the collector nothing to do. */
    Latencies(int expected) {
        nanos = new int[expected];
    }

    void add(long time) {
        if (count == nanos.length) {
            nanos = Arrays.copyOf(nanos, count * 2 + 1);
        }
        nanos[count] = (int) Math.min(time, Integer.MAX_VALUE);
        count++;
    }

    @Override
    public String toString() {
        int[] sorted = Arrays.copyOf(nanos, count);
        Arrays.sort(sorted);
        return "p50 %.1f us, p99 %.1f us, p99.9 %.1f us, p99.99 %.1f us, max %.1f us"
                .formatted(at(sorted, 0.5), at(sorted, 0.99), at(sorted, 0.999), at(sorted, 0.9999), at(sorted, 1));
    }

    private static double at(int[] sorted, double quantile) {
        int index = (int) Math.ceil(quantile * sorted.length) - 1;
        return sorted[Math.max(0, index)] / 1e3;
    }
}
