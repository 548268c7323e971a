// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import java.util.Map;
import java.util.TreeMap;

/** Counts what happened, so that a run in which nothing happened is not taken for a good one. */
final class Tally {
    private final Map<String, Long> counts = new TreeMap<>();

    void count(String what) {
        counts.merge(what, 1L, Long::sum);
    }

    long get(String what) {
        return counts.getOrDefault(what, 0L);
    }

    void add(Tally other) {
        other.counts.forEach((what, times) -> counts.merge(what, times, Long::sum));
    }

    @Override
    public String toString() {
        return counts.toString();
    }
}
