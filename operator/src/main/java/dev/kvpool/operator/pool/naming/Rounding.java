// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.naming;

/** Rounding of counts in the status, so that a slowly changing pool costs few writes. */
public final class Rounding {
    private static final long BASE = 10;
    private static final long TWO_DIGITS = 100;

    /** A value within this share of the total keeps the text it had. */
    private static final long CALM_SHARE = 100;

    private Rounding() {}

    /** The number rounded down to its first two digits. */
    public static long twoDigits(long count) {
        long scale = 1;
        while (count / scale >= TWO_DIGITS) {
            scale *= BASE;
        }
        return count / scale * scale;
    }

    /** True when two values are so near to each other, measured by the total, that the shown one may stay. */
    public static boolean calm(long shown, long actual, long total) {
        boolean bothEmptyOrNot = (shown == 0) == (actual == 0);
        return bothEmptyOrNot && isNoise(shown - actual, total);
    }

    /** True when so much, more or less, is nothing to tell of, measured by the total. */
    public static boolean isNoise(long difference, long total) {
        return Math.abs(difference) <= total / CALM_SHARE;
    }
}
