// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.count;

/** How large the values are that were put, in buckets. */
public final class SizeHistogram {
    /** Those of Mooncake's. */
    private static final long[] BOUNDS = {4_096, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864};

    private final long[] counts;
    private long sum;

    public SizeHistogram() {
        this(new long[BOUNDS.length + 1], 0);
    }

    private SizeHistogram(long[] counts, long sum) {
        this.counts = counts;
        this.sum = sum;
    }

    public void add(long bytes) {
        int bucket = 0;
        while (bucket < BOUNDS.length && bytes > BOUNDS[bucket]) {
            bucket++;
        }
        counts[bucket]++;
        sum += bytes;
    }

    /** The upper bounds of the buckets, each included; one more bucket, without, follows them. */
    public static long[] bounds() {
        return BOUNDS.clone();
    }

    /** How many there are in each bucket. */
    public long[] counts() {
        return counts.clone();
    }

    public long sum() {
        return sum;
    }

    public SizeHistogram copy() {
        return new SizeHistogram(counts.clone(), sum);
    }
}
