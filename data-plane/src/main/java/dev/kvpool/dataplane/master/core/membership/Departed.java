// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.membership;

import dev.kvpool.dataplane.wire.message.Key;
import org.agrona.collections.Long2LongHashMap;

/**
 * Remembers why keys are not there any more: the latest {@value #KEPT} that this master evicted or removed, by a hash of 64
 * bits. It only explains misses, so that a wrong answer once in 2^47 lookups does no harm.
 */
public final class Departed {
    /** What became of a key. */
    public enum Fate {
        /** Never put, or gone before this master remembers. */
        UNKNOWN,
        EVICTED,
        REMOVED
    }

    static final int KEPT = 1 << 17;
    private static final long NOWHERE = -1;

    /** Hashes in the order they came, the oldest overwritten; and for each hash its newest place and fate. */
    private final long[] ring = new long[KEPT];

    private final Long2LongHashMap places = new Long2LongHashMap(NOWHERE);
    private long count;

    public void evicted(Key key) {
        note(key, Fate.EVICTED);
    }

    public void removed(Key key) {
        note(key, Fate.REMOVED);
    }

    public Fate fateOf(Key key) {
        long entry = places.get(hash(key));
        return entry == NOWHERE ? Fate.UNKNOWN : (entry & 1) == 0 ? Fate.EVICTED : Fate.REMOVED;
    }

    int size() {
        return places.size();
    }

    private void note(Key key, Fate fate) {
        int place = (int) (count % KEPT);
        if (count >= KEPT) {
            long oldest = ring[place];
            if (places.get(oldest) >> 1 == count - KEPT) {
                places.remove(oldest);
            }
        }
        long hash = hash(key);
        ring[place] = hash;
        places.put(hash, count << 1 | (fate == Fate.REMOVED ? 1 : 0));
        count++;
    }

    /** FNV-1a, its bits mixed so that similar keys spread over a hash table. */
    private static long hash(Key key) {
        long hash = 0xcbf29ce484222325L;
        for (byte b : key.bytes()) {
            hash = (hash ^ (b & 0xff)) * 0x100000001b3L;
        }
        hash = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
        return hash ^ hash >>> 33;
    }
}
