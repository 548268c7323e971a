// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

/**
 * Which object is evicted next: of the first in each part of a {@link UseOrder} the one that is least likely to be used again, as
 * {@link ReuseRates} learns it from what is asked for. How often an object was used is remembered for a while after its eviction.
 */
public final class ReusePolicy {
    /** Time goes by with what is put: so many units while as many objects are put as there are. */
    private static final int UNITS = 64;

    /** What was counted weighs less by a part of e after so many times as many uses as there are objects. */
    private static final int SPAN = 4;

    /** Rates are reckoned again so many times while as many objects are used as there are. */
    private static final int RECKONINGS = 8;

    private static final int USES_BETWEEN_MIN = 64;

    /** An object is not kept unused while a thousand times as many are put as there are. */
    private static final int AGE_MASK = 0xffff;

    private final ReuseRates rates = new ReuseRates();
    private final WatchedKeys watched = new WatchedKeys(rates);
    private final EvictedUses evicted = new EvictedUses();
    private int room = 1;
    private int now;
    private int putSinceNow;
    private int usesSinceReckoned;

    /** What was used after this in the prompt has been used so often. */
    private int usesAfter;

    public ReusePolicy() {
        rates.reckon(1);
    }

    /** There is room for so many objects. */
    public void setRoom(int objects) {
        room = Math.max(1, objects);
        watched.setRoom(room);
        evicted.setRoom(room);
    }

    /** The time by the clock of this policy. */
    public int now() {
        return now;
    }

    /** A new object is put: how often it counts as used. */
    public int put(int keyHash) {
        if (++putSinceNow >= room / UNITS) {
            putSinceNow = 0;
            now++;
        }
        return use(keyHash, evicted.take(keyHash) + 1);
    }

    /** An object is used that had been used so often: how often it has been used with that. */
    public int used(int keyHash, int uses) {
        return use(keyHash, Math.min(UseOrder.USES_MAX, uses + 1));
    }

    private int use(int keyHash, int uses) {
        usesAfter = Math.max(usesAfter, Math.min(UseOrder.USES_MAX, uses));
        watched.used(keyHash, usesAfter, now);
        int between = Math.max(USES_BETWEEN_MIN, room / RECKONINGS);
        if (++usesSinceReckoned >= between) {
            usesSinceReckoned = 0;
            rates.reckon(Math.max(0.5, 1 - (double) between / SPAN / room));
        }
        return usesAfter;
    }

    /**
     * The prompt has been used whose blocks were named from the last to the first: of these none counts as used less often than those
     * behind it.
     */
    public void endPrompt() {
        usesAfter = 0;
    }

    /** An object is evicted that had been used so often. */
    public void evicted(int keyHash, int uses) {
        evicted.add(keyHash, uses);
    }

    /**
     * The part whose object is evicted first, -1 when there are no objects.
     *
     * @param candidates an object of each part, or {@link Links#NONE}
     */
    public int least(int[] candidates, Links links) {
        int least = -1;
        double leastRate = 0;
        int leastAge = 0;
        for (int part = 0; part < candidates.length; part++) {
            if (candidates[part] == Links.NONE) {
                continue;
            }
            int age = (now - links.usedAt(candidates[part])) & AGE_MASK;
            double rate = rates.rate(links.uses(candidates[part]), age);
            if (least < 0 || rate < leastRate || (rate == leastRate && age > leastAge)) {
                least = part;
                leastRate = rate;
                leastAge = age;
            }
        }
        return least;
    }
}
