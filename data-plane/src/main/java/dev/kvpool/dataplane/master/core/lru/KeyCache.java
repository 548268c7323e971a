// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

import java.util.function.IntPredicate;
import org.agrona.collections.Int2IntHashMap;

/** A cache of keys alone that evicts in the order of a {@link SegmentedLru}. Nothing is allocated after its making. */
public final class KeyCache {
    private final Int2IntHashMap places;
    private final LinkArrays links;
    private final int[] keys;
    private final SegmentedLru order;

    private int room;

    /** Unused places are a list through {@link Links#after}. */
    private int unused;

    /** @param roomMax the most keys that there will ever be room for */
    public KeyCache(int roomMax) {
        room = roomMax;
        places = new Int2IntHashMap(2 * roomMax, 0.6f, Links.NONE);
        links = new LinkArrays(roomMax + 1);
        keys = new int[roomMax + 1];
        order = new SegmentedLru(links);
        for (int place = roomMax; place > 0; place--) {
            links.setAfter(place, unused);
            unused = place;
        }
    }

    /**
     * From now on there is room for so many keys.
     *
     * @param probation the part of them that new ones find in front of them
     */
    public void setRoom(int keys, double probation) {
        room = keys;
        order.setProtectedMax((int) ((1 - probation) * keys));
        while (places.size() > room) {
            drop(order.first());
        }
    }

    public boolean has(int key) {
        return places.containsKey(key);
    }

    /**
     * A key is used, and put in its turn when it is not there.
     *
     * @return whether it was there
     */
    public boolean use(int key) {
        int place = places.get(key);
        if (place != Links.NONE) {
            order.remove(place);
            order.append(place);
            return true;
        }
        while (places.size() >= room) {
            drop(order.first());
        }
        int taken = unused;
        unused = links.after(taken);
        keys[taken] = key;
        places.put(key, taken);
        if (!order.enter(taken)) {
            order.append(taken);
        }
        return false;
    }

    /** Drops all keys but some. */
    void keep(IntPredicate which) {
        int next;
        for (int place = order.first(); place != Links.NONE; place = next) {
            next = links.after(place);
            if (!which.test(keys[place])) {
                drop(place);
            }
        }
    }

    private void drop(int place) {
        places.remove(keys[place]);
        order.remove(place);
        links.setAfter(place, unused);
        unused = place;
    }
}
