// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.scale;

import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations of reconciliations of pools, by the bounds of the operator's own histogram.
 *
 * @param counts how many took at most so many seconds, by that bound
 */
record Latencies(TreeMap<Double, Double> counts) {
    private static final Pattern BUCKET = Pattern.compile(
            "reconciliations_execution_duration_seconds_bucket\\{[^}]*controller_name=\"kvcachepool\"[^}]*le=\"([^\"]+)\"[^}]*} (\\S+)");

    /** From the text of {@code /q/metrics}. */
    static Latencies of(String metrics) {
        TreeMap<Double, Double> counts = new TreeMap<>();
        Matcher bucket = BUCKET.matcher(metrics);
        while (bucket.find()) {
            double bound =
                    bucket.group(1).equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(bucket.group(1));
            counts.merge(bound, Double.parseDouble(bucket.group(2)), Double::sum);
        }
        return new Latencies(counts);
    }

    /** What came after an earlier look at the same process. */
    Latencies since(Latencies before) {
        TreeMap<Double, Double> more = new TreeMap<>();
        counts.forEach((bound, count) -> more.put(bound, count - before.counts.getOrDefault(bound, 0.0)));
        return new Latencies(more);
    }

    long count() {
        return counts.isEmpty() ? 0 : Math.round(counts.lastEntry().getValue());
    }

    /** The lowest bound, in milliseconds, that this share of all durations kept. */
    String quantile(double share) {
        for (Map.Entry<Double, Double> bucket : counts.entrySet()) {
            if (bucket.getValue() >= share * count()) {
                return bucket.getKey().isInfinite() ? "more than 30 s" : "<= %.0f ms".formatted(bucket.getKey() * 1000);
            }
        }
        return "unknown";
    }

    @Override
    public String toString() {
        return "%d reconciliations, p50 %s, p99 %s".formatted(count(), quantile(0.5), quantile(0.99));
    }
}
