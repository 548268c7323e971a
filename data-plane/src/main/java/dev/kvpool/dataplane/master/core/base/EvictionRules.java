// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

/**
 * When objects are evicted, and what keeps them from it.
 *
 * @param high fraction of a node's room, in bytes or directory slots, above which eviction begins
 * @param low fraction at which it ends
 * @param takeoverReserve fraction of a node's room that puts leave free, but for the time after a takeover in which all that
 *     was recovered is leased and nothing can be evicted
 * @param softPinMs how long a soft pin outlives the last use when its put does not say
 * @param evictSoftPinned whether softly pinned objects are evicted when nothing else is left
 */
public record EvictionRules(double high, double low, double takeoverReserve, long softPinMs, boolean evictSoftPinned) {
    public static final long SOFT_PIN_MS_MAX = 86_400_000;
    private static final long SOFT_PIN_MS = 1_800_000;

    public EvictionRules {
        if (!(0 < low && low < high && high <= 1)) {
            throw new IllegalArgumentException("watermarks must be 0 < low < high <= 1, not " + low + " and " + high);
        }
        if (!(0 <= takeoverReserve && takeoverReserve < 1)) {
            throw new IllegalArgumentException("takeover reserve must be 0 to below 1, not " + takeoverReserve);
        }
        if (softPinMs < 1 || softPinMs > SOFT_PIN_MS_MAX) {
            throw new IllegalArgumentException("soft pins must last 1 ms to 24 h, not " + softPinMs + " ms");
        }
    }

    /** These watermarks, no reserve, and soft pins as they are by default. */
    public static EvictionRules between(double low, double high) {
        return new EvictionRules(high, low, 0, SOFT_PIN_MS, true);
    }

    /** The part of the reserve that lies above the high watermark: eviction keeps no more than that free. */
    public double keptFree() {
        return Math.min(takeoverReserve, 1 - high);
    }
}
