// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Finds by trial how large the probationary segment should be (set dueling): for each of some sizes a small cache serves a sample of the
 * keys, and has room for the same part of the sample as the pool has of all keys. Where many prompts begin alike, a small segment keeps
 * what is used most; where whole prompts come again soon and then never, only recency counts.
 */
public final class SegmentTrial {
    /** Parts of the cache; the first makes it a plain LRU. */
    static final double[] PROBATIONS = {1, 0.7, 0.4, 0.1};

    /** Keys that one cache has room for: of a larger pool a smaller part of the keys is in the sample. */
    static final int SAMPLE_MAX = 2048;

    /** The sample becomes larger again below this part of it. */
    private static final int SAMPLE_MIN = SAMPLE_MAX / 4;

    /** Hits count less by a part of e after so many times as many uses as a cache has room for. */
    private static final int SPAN = 16;

    /** A size takes the place of another when it has more hits by this part of the room; the plain LRU when it has as many. */
    private static final double LEAD = 0.1;

    /** And by this number at least, so that chance does not decide in a small pool. */
    private static final double LEAD_MIN = 32;

    private final KeyCache[] caches = IntStream.range(0, PROBATIONS.length)
            .mapToObj(i -> new KeyCache(SAMPLE_MAX))
            .toArray(KeyCache[]::new);

    private final double[] hits = new double[PROBATIONS.length];
    private int best;

    /** One of so many keys is in the sample, as a power of two. */
    private int rarity;

    private int room = 1;

    /** The pool has room for so many objects. */
    public void setRoom(int objects) {
        while (objects >> rarity > SAMPLE_MAX) {
            rarity++;
            Arrays.stream(caches).forEach(cache -> cache.keep(this::isSampled));
        }
        while (rarity > 0 && objects >> rarity < SAMPLE_MIN) {
            rarity--;
        }
        room = Math.max(1, objects >> rarity);
        for (int i = 0; i < caches.length; i++) {
            caches[i].setRoom(room, PROBATIONS[i]);
        }
    }

    /** An object is put, or used again. */
    public void used(int keyHash) {
        if (!isSampled(keyHash)) {
            return;
        }
        double kept = 1 - 1.0 / (SPAN * (double) room);
        double lead = Math.max(LEAD_MIN, LEAD * room);
        for (int i = 0; i < caches.length; i++) {
            hits[i] = hits[i] * kept + (caches[i].use(keyHash) ? 1 : 0);
            best = hits[i] > hits[best] + lead ? i : best;
        }
        best = hits[0] >= hits[best] ? 0 : best;
    }

    private boolean isSampled(int keyHash) {
        return rarity == 0 || keyHash >>> (Integer.SIZE - rarity) == 0;
    }

    /** The part of the objects that a new one should find in front of it. */
    public double probation() {
        return PROBATIONS[best];
    }
}
