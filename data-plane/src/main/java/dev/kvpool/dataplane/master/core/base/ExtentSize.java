// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

/**
 * How many bytes a node allocates for an object, as it is laid out: key, padding to 64, payload, padding to 4, a sum for each
 * whole block of the payload, padding to 64.
 */
public final class ExtentSize {
    private static final long ALIGNMENT = 64;
    private static final long BLOCK = 4096;
    private static final long SUM = 4;
    private static final long SUM_BLOCK = 65_536;

    private ExtentSize() {}

    /** A length that is out of range, unsigned or too large to add up, gives a size that no segment has. */
    public static long of(int keyLength, long payloadLength) {
        if (payloadLength < 0 || payloadLength > Long.MAX_VALUE / 2) {
            return Long.MAX_VALUE;
        }
        long summed = (payloadLength + SUM - 1) / SUM * SUM + payloadLength / SUM_BLOCK * SUM;
        return aligned(keyLength) + aligned(summed);
    }

    /** The same on an SSD: whole blocks for the payload, at least one. */
    public static long onSsd(long payloadLength) {
        if (payloadLength < 0 || payloadLength > Long.MAX_VALUE / 2) {
            return Long.MAX_VALUE;
        }
        return Math.max(1, (payloadLength + BLOCK - 1) / BLOCK) * BLOCK;
    }

    /** That of so many copies, at least one. */
    public static long ofCopies(long extentBytes, int copies) {
        int counted = Math.clamp(copies, 1, Bounds.REPLICAS_MAX);
        return extentBytes > Long.MAX_VALUE / counted ? Long.MAX_VALUE : extentBytes * counted;
    }

    private static long aligned(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}
