// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

import java.util.Arrays;
import org.agrona.collections.Int2IntHashMap;

/** A sample of the keys, there or evicted, each watched for a while after its last use: what {@link ReuseRates} are found by. */
final class WatchedKeys {
    /** Of a pool with room for more objects than this a part of the keys is watched. */
    static final int SAMPLE_MAX = 2048;

    /** The sample becomes larger again below this part of it. */
    private static final int SAMPLE_MIN = SAMPLE_MAX / 4;

    /** So many keys are looked at for each that is used. */
    private static final int LOOKED_AT = 4;

    private static final int NOWHERE = -1;
    private final ReuseRates rates;
    private final Int2IntHashMap places = new Int2IntHashMap(NOWHERE);
    private int[] keys = new int[SAMPLE_MIN];

    /** By place: when the key was used last, until when it was watched, and how often it had been used. */
    private int[] usedAt = new int[SAMPLE_MIN];

    private int[] watchedTo = new int[SAMPLE_MIN];
    private int[] uses = new int[SAMPLE_MIN];
    private int count;
    private int lookedAt;

    /** One of so many keys is watched, as a power of two. */
    private int rarity;

    WatchedKeys(ReuseRates rates) {
        this.rates = rates;
    }

    void setRoom(int objects) {
        while (objects >> rarity > SAMPLE_MAX) {
            rarity++;
        }
        while (rarity > 0 && objects >> rarity < SAMPLE_MIN) {
            rarity--;
        }
    }

    /** A key is used, and has been used so often with that. */
    void used(int key, int usesNow, int now) {
        if (!isSampled(key)) {
            return;
        }
        lookAtSome(now);
        int place = places.get(key);
        if (place == NOWHERE) {
            place = add(key);
        } else {
            watch(place, now);
            rates.used(uses[place], now - usedAt[place]);
        }
        usedAt[place] = now;
        watchedTo[place] = now;
        uses[place] = usesNow;
    }

    private boolean isSampled(int key) {
        return rarity == 0 || key >>> (Integer.SIZE - rarity) == 0;
    }

    private void lookAtSome(int now) {
        for (int i = 0; i < LOOKED_AT && count > 0; i++) {
            lookedAt = lookedAt >= count ? 0 : lookedAt;
            watch(lookedAt, now);
            if (now - usedAt[lookedAt] >= ReuseRates.AGE_MAX || !isSampled(keys[lookedAt])) {
                drop(lookedAt);
            } else {
                lookedAt++;
            }
        }
    }

    private void watch(int place, int now) {
        rates.watched(uses[place], watchedTo[place] - usedAt[place], now - usedAt[place]);
        watchedTo[place] = now;
    }

    private int add(int key) {
        if (count == keys.length) {
            keys = Arrays.copyOf(keys, 2 * count);
            usedAt = Arrays.copyOf(usedAt, 2 * count);
            watchedTo = Arrays.copyOf(watchedTo, 2 * count);
            uses = Arrays.copyOf(uses, 2 * count);
        }
        keys[count] = key;
        places.put(key, count);
        return count++;
    }

    private void drop(int place) {
        places.remove(keys[place]);
        count--;
        if (place < count) {
            keys[place] = keys[count];
            usedAt[place] = usedAt[count];
            watchedTo[place] = watchedTo[count];
            uses[place] = uses[count];
            places.put(keys[place], place);
        }
    }
}
