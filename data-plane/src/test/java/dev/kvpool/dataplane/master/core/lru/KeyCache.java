// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

import org.agrona.collections.Int2IntHashMap;

/** A cache of keys alone that evicts as a {@link ReusePolicy} says. */
public final class KeyCache {
    private final ReusePolicy policy = new ReusePolicy();
    private final Int2IntHashMap places;
    private final LinkArrays links;
    private final int[] keys;
    private final UseOrder order;

    /** Unused places are a list through {@link Links#after}. */
    private int unused;

    public KeyCache(int room) {
        places = new Int2IntHashMap(2 * room, 0.6f, Links.NONE);
        links = new LinkArrays(room + 1);
        keys = new int[room + 1];
        order = new UseOrder(links);
        policy.setRoom(room);
        for (int place = room; place > 0; place--) {
            links.setAfter(place, unused);
            unused = place;
        }
    }

    public boolean has(int key) {
        return places.containsKey(key);
    }

    /** Keys are used, and put where they are not there: the blocks of a prompt from one to another, the last first. */
    public void use(int[] prompt, int from, int to) {
        for (int i = to - 1; i >= from; i--) {
            use(prompt[i]);
        }
        policy.endPrompt();
    }

    private void use(int key) {
        int place = places.get(key);
        if (place != Links.NONE) {
            order.remove(place);
            links.setUsed(place, policy.used(key, links.uses(place)), policy.now());
        } else {
            if (unused == Links.NONE) {
                evict();
            }
            place = unused;
            unused = links.after(place);
            keys[place] = key;
            places.put(key, place);
            links.setUsed(place, policy.put(key), policy.now());
        }
        order.add(place);
    }

    private void evict() {
        int[] candidates = order.firsts();
        int place = candidates[policy.least(candidates, links)];
        policy.evicted(keys[place], links.uses(place));
        places.remove(keys[place]);
        order.remove(place);
        links.setAfter(place, unused);
        unused = place;
    }
}
