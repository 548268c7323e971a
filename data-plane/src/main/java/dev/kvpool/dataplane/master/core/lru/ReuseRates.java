// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

import java.util.Arrays;

/**
 * How likely an object is to be used again, by how often it was used and how long ago: uses counted for each time that objects were
 * watched, where older counts weigh less. A rate never rises with the age and never falls with the number of uses, so that a block of a
 * prompt, which was used at least as often and as lately as what follows it, never counts for less.
 */
final class ReuseRates {
    /** Ages are told apart by half octaves, up to this one. */
    static final int AGE_MAX = 512;

    private static final int[] BUCKETS = new int[AGE_MAX + 1];

    static {
        for (int age = 0; age <= AGE_MAX; age++) {
            BUCKETS[age] = Math.min(17, (int) (2 * Math.log(age + 1) / Math.log(2)));
        }
    }

    private static final int BUCKET_COUNT = BUCKETS[AGE_MAX] + 1;
    private static final int USES = UseOrder.USES_MAX + 1;

    /** So many uses at the rate that was expected are added to what was counted, so that few do not decide. */
    private static final double PRIOR = 5;

    /** More uses must bring this many times the rate to count: neighbours in a prompt are used together, so chance weighs much. */
    private static final double LEAD = 1.2;

    private final double[][] used = new double[USES][BUCKET_COUNT];
    private final double[][] watched = new double[USES][BUCKET_COUNT];
    private final double[][] rates = new double[USES][BUCKET_COUNT];

    /** How likely it is per unit of time that an object is used which was used so often, so long ago. */
    double rate(int uses, int age) {
        return rates[uses][bucket(age)];
    }

    /** An object of this age that had been used so often is used again. */
    void used(int uses, int age) {
        used[uses][bucket(age)]++;
    }

    /** An object that had been used so often was watched while it grew from one age to another. */
    void watched(int uses, int from, int to) {
        for (int age = from; age < Math.min(to, AGE_MAX); age++) {
            watched[uses][bucket(age)]++;
        }
    }

    private static int bucket(int age) {
        return BUCKETS[Math.clamp(age, 0, AGE_MAX)];
    }

    /** Reckons the rates by what was counted, which from now on weighs less. */
    void reckon(double kept) {
        double[] allUsed = new double[BUCKET_COUNT];
        double[] allWatched = new double[BUCKET_COUNT];
        for (int uses = 0; uses < USES; uses++) {
            for (int bucket = 0; bucket < BUCKET_COUNT; bucket++) {
                used[uses][bucket] *= kept;
                watched[uses][bucket] *= kept;
                allUsed[bucket] += used[uses][bucket];
                allWatched[bucket] += watched[uses][bucket];
            }
        }
        double[] expected = new double[BUCKET_COUNT];
        Arrays.fill(expected, (sum(allUsed) + 1) / (sum(allWatched) + 1));
        expected = falling(allUsed, allWatched, expected);
        for (int uses = 0; uses < USES; uses++) {
            double[] found = falling(used[uses], watched[uses], scaled(expected, used[uses], watched[uses]));
            for (int bucket = 0; bucket < BUCKET_COUNT; bucket++) {
                rates[uses][bucket] = uses == 0 ? found[bucket] : Math.max(expected[bucket], found[bucket] / LEAD);
            }
            expected = rates[uses];
        }
    }

    /** Rates of the same form, as high as they were found on the whole. */
    private static double[] scaled(double[] rates, double[] used, double[] watched) {
        double found = PRIOR;
        double expected = PRIOR;
        for (int bucket = 0; bucket < BUCKET_COUNT; bucket++) {
            found += used[bucket];
            expected += watched[bucket] * rates[bucket];
        }
        double factor = found / expected;
        return Arrays.stream(rates).map(rate -> rate * factor).toArray();
    }

    /** The rates that were found, where those of neighbours are pooled as long as the later one is higher. */
    private static double[] falling(double[] used, double[] watched, double[] expected) {
        double[] uses = new double[BUCKET_COUNT];
        double[] times = new double[BUCKET_COUNT];
        int[] ends = new int[BUCKET_COUNT];
        int pools = 0;
        for (int bucket = 0; bucket < BUCKET_COUNT; bucket++) {
            uses[pools] = used[bucket] + PRIOR;
            times[pools] = watched[bucket] + PRIOR / expected[bucket];
            while (pools > 0 && uses[pools - 1] * times[pools] < uses[pools] * times[pools - 1]) {
                uses[pools - 1] += uses[pools];
                times[pools - 1] += times[pools];
                pools--;
            }
            ends[pools] = bucket + 1;
            pools++;
        }
        double[] rates = new double[BUCKET_COUNT];
        for (int pool = 0; pool < pools; pool++) {
            Arrays.fill(rates, pool == 0 ? 0 : ends[pool - 1], ends[pool], uses[pool] / times[pool]);
        }
        return rates;
    }

    private static double sum(double[] values) {
        return Arrays.stream(values).sum();
    }
}
