// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Numbers of bytes: {@code 1000000}, {@code 512MiB} or {@code 512Mi} (powers of 1024), {@code 4GB} or {@code 4G} (powers
 * of 1000). The units are those of Kubernetes quantities, with or without the B.
 */
public final class Sizes {
    private static final Pattern TEXT = Pattern.compile("([0-9]{1,19}(?:\\.[0-9]{1,6})?)([kKMGTP]?i?)B?");

    private static final Map<String, Long> UNITS = Map.ofEntries(
            Map.entry("", 1L),
            Map.entry("k", 1_000L),
            Map.entry("K", 1_000L),
            Map.entry("M", 1_000_000L),
            Map.entry("G", 1_000_000_000L),
            Map.entry("T", 1_000_000_000_000L),
            Map.entry("P", 1_000_000_000_000_000L),
            Map.entry("Ki", 1L << 10),
            Map.entry("Mi", 1L << 20),
            Map.entry("Gi", 1L << 30),
            Map.entry("Ti", 1L << 40),
            Map.entry("Pi", 1L << 50));

    private Sizes() {}

    /** A size between two bounds, both included. */
    public static Format<Long> between(long min, long max) {
        String allowed =
                "a size from " + format(min) + " to " + format(max) + ", written as 4GiB, 512Mi, 4GB or in bytes";
        return new Format<>("SIZE", allowed, text -> {
            long value = parse(text);
            if (value < min || value > max) {
                throw new IllegalArgumentException();
            }
            return value;
        });
    }

    /** The size in the largest power of 1024 that leaves no fraction; always reads back as the same number. */
    public static String format(long bytes) {
        String[] units = {"", "KiB", "MiB", "GiB", "TiB", "PiB"};
        int unit = 0;
        long number = bytes;
        while (unit < units.length - 1 && number != 0 && number % 1024 == 0) {
            number /= 1024;
            unit++;
        }
        return number + units[unit];
    }

    /** The size with one decimal, for sentences: {@code 3.7 GiB}. */
    public static String about(long bytes) {
        String[] units = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
        int unit = 0;
        double number = bytes;
        while (unit < units.length - 1 && number >= 1024) {
            number /= 1024;
            unit++;
        }
        return unit == 0 ? bytes + " bytes" : String.format(Locale.ROOT, "%.1f %s", number, units[unit]);
    }

    static long parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches() || !UNITS.containsKey(matcher.group(2))) {
            throw new IllegalArgumentException();
        }
        try {
            return new BigDecimal(matcher.group(1))
                    .multiply(BigDecimal.valueOf(UNITS.get(matcher.group(2))))
                    .longValueExact();
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException("it is no whole number of bytes below 2^63", e);
        }
    }
}
