// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

/**
 * How often objects were used that have been evicted, of about as many as there are: two bytes for each, of which 13 bits tell its key
 * from others. The oldest of {@value #WAYS} is forgotten for a new one.
 */
final class EvictedUses {
    static final int UNKNOWN = -1;

    private static final int WAYS = 8;
    private static final int SETS_MAX = 1 << 22;
    private static final int USES_BITS = 3;

    /** By set from the latest to the oldest: bits of the key's hash, which are not all 0, and below them the uses. */
    private short[] entries = new short[WAYS];

    private int sets = 1;

    /** So many are to be remembered from now on; fewer than before are no reason to forget any. */
    void setRoom(int objects) {
        int wanted = sets;
        while (wanted < SETS_MAX && 4L * WAYS * wanted < 3L * objects) {
            wanted *= 2;
        }
        if (wanted > sets) {
            entries = repeated(entries, wanted / sets);
            sets = wanted;
        }
    }

    private static short[] repeated(short[] some, int times) {
        short[] all = new short[times * some.length];
        for (int at = 0; at < all.length; at += some.length) {
            System.arraycopy(some, 0, all, at, some.length);
        }
        return all;
    }

    void add(int keyHash, int uses) {
        int set = set(keyHash);
        System.arraycopy(entries, set, entries, set + 1, WAYS - 1);
        entries[set] = (short) ((tag(keyHash) << USES_BITS) | uses);
    }

    /** How often an object had been used, which is forgotten by that; {@link #UNKNOWN} when it was not evicted lately. */
    int take(int keyHash) {
        int set = set(keyHash);
        for (int i = set; i < set + WAYS; i++) {
            int entry = Short.toUnsignedInt(entries[i]);
            if (entry >>> USES_BITS == tag(keyHash)) {
                System.arraycopy(entries, i + 1, entries, i, set + WAYS - 1 - i);
                entries[set + WAYS - 1] = 0;
                return entry & ((1 << USES_BITS) - 1);
            }
        }
        return UNKNOWN;
    }

    private int set(int keyHash) {
        return (keyHash & (sets - 1)) * WAYS;
    }

    private static int tag(int keyHash) {
        return Math.max(1, keyHash >>> (Integer.SIZE - Short.SIZE + USES_BITS));
    }
}
