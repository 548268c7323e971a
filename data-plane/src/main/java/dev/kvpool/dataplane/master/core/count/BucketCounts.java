// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.count;

import java.util.Arrays;
import java.util.List;

/** How many values of one kind there were, by their size, and their sum. */
public final class BucketCounts {
    private final long[] bounds;
    private final long[] counts;
    private long sum;

    /** @param bounds the highest value of each bucket, the lowest bucket first; one more, without a bound, follows them */
    public BucketCounts(long... bounds) {
        this(bounds, new long[bounds.length + 1], 0);
    }

    private BucketCounts(long[] bounds, long[] counts, long sum) {
        this.bounds = bounds;
        this.counts = counts;
        this.sum = sum;
    }

    public void add(long value) {
        int bucket = 0;
        while (bucket < bounds.length && value > bounds[bucket]) {
            bucket++;
        }
        counts[bucket]++;
        sum += value;
    }

    public List<Long> bounds() {
        return Arrays.stream(bounds).boxed().toList();
    }

    /** How many there are in each bucket. */
    public List<Long> counts() {
        return Arrays.stream(counts).boxed().toList();
    }

    public long sum() {
        return sum;
    }

    public BucketCounts copy() {
        return new BucketCounts(bounds, counts.clone(), sum);
    }
}
