// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.duration;

import java.time.Duration;

/** Reads the form that durations of the API have: one whole number with a unit ms, s or m. */
public final class ApiDuration {
    private ApiDuration() {}

    /**
     * Reads.
     *
     * @param text what the schema has let pass
     */
    public static Duration of(String text) {
        int digits = 0;
        while (digits < text.length() && Character.isDigit(text.charAt(digits))) {
            digits++;
        }
        long number = Long.parseLong(text.substring(0, digits));
        return switch (text.substring(digits)) {
            case "ms" -> Duration.ofMillis(number);
            case "s" -> Duration.ofSeconds(number);
            default -> Duration.ofMinutes(number);
        };
    }
}
