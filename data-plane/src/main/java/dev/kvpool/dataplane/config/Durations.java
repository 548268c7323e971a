// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Times such as {@code 500ms}, {@code 10s}, {@code 2m}, {@code 1h}; a number without unit is refused as ambiguous. */
public final class Durations {
    private static final Pattern TEXT = Pattern.compile("([0-9]{1,12})(ms|s|m|h)");

    private Durations() {}

    /** A time between two bounds, both included. */
    public static Format<Duration> between(Duration min, Duration max) {
        String allowed = "a time from " + format(min) + " to " + format(max) + ", written as 500ms, 10s, 2m or 1h";
        return new Format<>("DURATION", allowed, text -> {
            Duration value = parse(text);
            if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
                throw new IllegalArgumentException();
            }
            return value;
        });
    }

    /** The shortest text that {@link #between} reads back as this time. */
    public static String format(Duration value) {
        long millis = value.toMillis();
        if (millis % 3_600_000 == 0 && millis > 0) {
            return millis / 3_600_000 + "h";
        }
        if (millis % 60_000 == 0 && millis > 0) {
            return millis / 60_000 + "m";
        }
        return millis % 1000 == 0 ? millis / 1000 + "s" : millis + "ms";
    }

    private static Duration parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException();
        }
        long number = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(number);
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> throw new IllegalArgumentException();
        };
    }
}
