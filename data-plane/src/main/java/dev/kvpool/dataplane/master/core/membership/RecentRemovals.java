// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.membership;

import dev.kvpool.dataplane.wire.message.Key;
import org.agrona.collections.Long2LongHashMap;

/**
 * Why keys are not there any more, and since when: the latest {@value #KEPT} that this leader evicted, removed or saw lost with a
 * node's memory, by a hash of 64 bits, in 5 MiB. It only explains misses, so that a wrong answer once in 2^47 lookups does no harm. It
 * is this leadership's own: a term begins with nothing.
 */
@SuppressWarnings("EnumOrdinal") // a fate is a few bits of a number, in this process alone
public final class RecentRemovals {
    /** What became of a key. */
    public enum Fate {
        /** Never put, or gone before this leader remembers. */
        UNKNOWN,
        EVICTED,
        REMOVED,
        /** Every node that held it came back without it, or ended. */
        LOST
    }

    static final int KEPT = 1 << 17;
    private static final long NOWHERE = -1;
    private static final int FATE_BITS = 2;
    private static final Fate[] FATES = Fate.values();

    /** Hashes in the order they came, the oldest overwritten, and when each came. */
    private final long[] ring = new long[KEPT];

    private final long[] times = new long[KEPT];

    /** For each hash its newest place and fate. */
    private final Long2LongHashMap places = new Long2LongHashMap(NOWHERE);

    private long count;
    private long nowMs;

    /** What came before belongs to an earlier term. */
    private long termBegins;

    private long termBeganMs;

    /** When everything was removed at once, in this term. */
    private long purgedAtMs = NOWHERE;

    /** What is noted from now on happened at this time. */
    public void at(long now) {
        nowMs = now;
    }

    /** This master leads from now on; what others did before it does not know. */
    public void beginTerm() {
        termBegins = count;
        termBeganMs = nowMs;
        purgedAtMs = NOWHERE;
    }

    public void evicted(Key key) {
        note(key, Fate.EVICTED);
    }

    public void removed(Key key) {
        note(key, Fate.REMOVED);
    }

    public void lost(Key key) {
        note(key, Fate.LOST);
    }

    /** Everything was removed at once, which is not remembered key by key. */
    public void purged() {
        purgedAtMs = nowMs;
    }

    public Fate fateOf(Key key) {
        long entry = entry(key);
        return entry == NOWHERE ? Fate.UNKNOWN : FATES[(int) entry & (1 << FATE_BITS) - 1];
    }

    /** For how long a key has been gone whose fate is known; negative for others. */
    public long goneForMs(Key key) {
        long entry = entry(key);
        return entry == NOWHERE ? NOWHERE : nowMs - times[place(entry >> FATE_BITS)];
    }

    /** How long ago everything was removed at once in this term; negative when it was not. */
    public long purgedForMs() {
        return purgedAtMs == NOWHERE ? NOWHERE : nowMs - purgedAtMs;
    }

    /** How far back every removal of this term is remembered. */
    public long remembersForMs() {
        boolean forgot = count - termBegins > KEPT;
        return nowMs - (forgot ? times[place(count)] : termBeganMs);
    }

    int size() {
        return places.size();
    }

    private long entry(Key key) {
        long entry = places.get(hash(key));
        return entry != NOWHERE && entry >> FATE_BITS >= termBegins ? entry : NOWHERE;
    }

    private void note(Key key, Fate fate) {
        int place = place(count);
        if (count >= KEPT) {
            long oldest = ring[place];
            if (places.get(oldest) >> FATE_BITS == count - KEPT) {
                places.remove(oldest);
            }
        }
        long hash = hash(key);
        ring[place] = hash;
        times[place] = nowMs;
        places.put(hash, count << FATE_BITS | fate.ordinal());
        count++;
    }

    private static int place(long number) {
        return (int) (number % KEPT);
    }

    /** FNV-1a, its bits mixed so that similar keys spread over a hash table. */
    private static long hash(Key key) {
        long hash = Fnv1a.of(key);
        hash = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
        return hash ^ hash >>> 33;
    }
}
