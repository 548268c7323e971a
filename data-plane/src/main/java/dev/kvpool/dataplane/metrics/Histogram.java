// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

import java.util.List;

/**
 * A histogram that something else keeps: the registry has none that only reads.
 *
 * @param bounds upper bounds of the buckets, themselves included, as the text has them
 * @param counts how many there are in each bucket; the last one is without a bound
 * @param sum of all values
 */
public record Histogram(List<String> bounds, List<Long> counts, double sum) {
    /** Copies the lists. */
    public Histogram {
        bounds = List.copyOf(bounds);
        counts = List.copyOf(counts);
    }

    /** For Prometheus. */
    String text(String name, String help) {
        StringBuilder text = new StringBuilder("# HELP %s %s\n# TYPE %s histogram\n".formatted(name, help, name));
        long all = 0;
        for (int bucket = 0; bucket < counts.size(); bucket++) {
            all += counts.get(bucket);
            String bound = bucket == bounds.size() ? "+Inf" : bounds.get(bucket);
            text.append("%s_bucket{le=\"%s\"} %d\n".formatted(name, bound, all));
        }
        return text.append("%s_sum %s\n%s_count %d\n".formatted(name, sum, name, all))
                .toString();
    }
}
