// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

import java.util.List;

/**
 * A histogram that something else keeps: the registry has none that only reads.
 *
 * @param bounds upper bounds of the buckets, themselves included, as the text has them
 * @param atMost how many there are up to each bound, and one more number: all of them
 * @param sum of all values
 */
public record Histogram(List<String> bounds, List<Long> atMost, double sum) {
    /** Copies the lists. */
    public Histogram {
        bounds = List.copyOf(bounds);
        atMost = List.copyOf(atMost);
    }

    /** For Prometheus. */
    String text(String name, String help) {
        StringBuilder text = new StringBuilder("# HELP %s %s\n# TYPE %s histogram\n".formatted(name, help, name));
        for (int bucket = 0; bucket < bounds.size(); bucket++) {
            text.append("%s_bucket{le=\"%s\"} %d\n".formatted(name, bounds.get(bucket), atMost.get(bucket)));
        }
        long all = atMost.getLast();
        return text.append("%s_bucket{le=\"+Inf\"} %d\n%s_sum %s\n%s_count %d\n"
                        .formatted(name, all, name, sum, name, all))
                .toString();
    }
}
