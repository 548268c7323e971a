// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.time.Duration;

/** Turns Java values into what C takes; what would change its meaning on the way is refused with KV_INVALID_ARGUMENT. */
final class Arguments {
    private Arguments() {}

    /** A text without NUL, at which C would end it; null passes, as C's NULL. */
    static String text(String name, String value) {
        if (value != null && value.indexOf('\0') >= 0) {
            throw invalid(name + " holds a NUL character");
        }
        return value;
    }

    static long bytes(String name, long value) {
        if (value < 0) {
            throw invalid(name + " is negative: " + value + " bytes");
        }
        return value;
    }

    static int port(String name, int value) {
        if (value < 0 || value > 65535) {
            throw invalid(name + " is not between 0 and 65535: " + value);
        }
        return value;
    }

    /** Whole milliseconds of a positive time; null is 0, which C takes as its default. */
    static int milliseconds(String name, Duration value) {
        if (value == null) {
            return 0;
        }
        if (value.compareTo(Duration.ofMillis(1)) < 0 || value.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) > 0) {
            throw invalid(name + " is not between 1 ms and " + Integer.MAX_VALUE + " ms: " + value);
        }
        return (int) value.toMillis();
    }

    static KvException invalid(String message) {
        return new KvException(Status.INVALID_ARGUMENT, message);
    }
}
