// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

/** How long objects lay unused before they were evicted, in buckets. Short ages mean that the pool is too small. */
public final class AgeHistogram {
    private static final long[] BOUNDS_S = {1, 3, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400};

    private final long[] counts;
    private long sumMs;

    AgeHistogram() {
        this(new long[BOUNDS_S.length + 1], 0);
    }

    private AgeHistogram(long[] counts, long sumMs) {
        this.counts = counts;
        this.sumMs = sumMs;
    }

    public void add(long ageMs) {
        int bucket = 0;
        while (bucket < BOUNDS_S.length && ageMs > BOUNDS_S[bucket] * 1000) {
            bucket++;
        }
        counts[bucket]++;
        sumMs += ageMs;
    }

    /** Buckets with an upper bound; one more, without, follows them. */
    public int boundedBuckets() {
        return BOUNDS_S.length;
    }

    /** The upper bound of a bucket in seconds, itself included. */
    public long boundSeconds(int bucket) {
        return BOUNDS_S[bucket];
    }

    /** How many ages are at most the bound of a bucket; all of them for the last, unbounded one. */
    public long atMost(int bucket) {
        long sum = 0;
        for (int i = 0; i <= bucket; i++) {
            sum += counts[i];
        }
        return sum;
    }

    public double sumSeconds() {
        return sumMs / 1000.0;
    }

    AgeHistogram copy() {
        return new AgeHistogram(counts.clone(), sumMs);
    }
}
