// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.duration;

import java.time.Duration;
import java.util.regex.Pattern;

/** Durations as the API has them, such as 1h, 1m30s or 500ms. */
public final class ApiDuration {
    private static final Pattern PART = Pattern.compile("([0-9]{1,5})(h|ms|m|s)");

    private ApiDuration() {}

    /**
     * Reads.
     *
     * @param text what the schema has let pass
     */
    public static Duration of(String text) {
        return PART.matcher(text)
                .results()
                .map(part -> part(Long.parseLong(part.group(1)), part.group(2)))
                .reduce(Duration.ZERO, Duration::plus);
    }

    private static Duration part(long number, String unit) {
        return switch (unit) {
            case "h" -> Duration.ofHours(number);
            case "m" -> Duration.ofMinutes(number);
            case "s" -> Duration.ofSeconds(number);
            case "ms" -> Duration.ofMillis(number);
            default -> throw new IllegalArgumentException("no unit of durations: " + unit);
        };
    }

    /** The same as kvpool's command line and clients take it: one whole number with the largest unit of m, s and ms that fits. */
    public static String flag(String text) {
        long millis = of(text).toMillis();
        long minute = Duration.ofMinutes(1).toMillis();
        long second = Duration.ofSeconds(1).toMillis();
        if (millis % minute == 0) {
            return millis / minute + "m";
        }
        return millis % second == 0 ? millis / second + "s" : millis + "ms";
    }
}
