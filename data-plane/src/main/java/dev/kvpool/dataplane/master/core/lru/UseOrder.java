// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

import java.util.Arrays;

/**
 * Objects in one list that is divided by how often they were used: those used least stand first, and where two were used as often, the one
 * used last stands behind. The next to be evicted is therefore the first of one of the parts; {@link ReusePolicy} says of which.
 */
public final class UseOrder {
    /** More uses than this are not told apart. */
    public static final int USES_MAX = 7;

    private final Links links;

    /** By number of uses the first object, {@link Links#NONE} where there is none. */
    private final int[] firsts = new int[USES_MAX + 1];

    private int last = Links.NONE;

    public UseOrder(Links links) {
        this.links = links;
    }

    /** The first object of all. */
    public int first() {
        return firstFrom(0);
    }

    public int last() {
        return last;
    }

    /** The first objects of all parts, for {@link #nextInPart} to go on from. */
    public int[] firsts() {
        return firsts.clone();
    }

    /** What follows an object in its part, {@link Links#NONE} where that ends. */
    public int nextInPart(int part, int object) {
        int after = links.after(object);
        return after == firstFrom(part + 1) ? Links.NONE : after;
    }

    /** Adds an object behind those that were used as often. */
    public void add(int object) {
        int part = links.uses(object);
        insertBefore(firstFrom(part + 1), object);
        if (firsts[part] == Links.NONE) {
            firsts[part] = object;
        }
    }

    /** Adds an object behind all others, however often it was used: a walk through them does not miss it. */
    public void append(int object) {
        insertBefore(Links.NONE, object);
        if (first() == Links.NONE) {
            firsts[0] = object;
        }
    }

    public void remove(int object) {
        for (int part = 0; part <= USES_MAX; part++) {
            if (firsts[part] == object) {
                firsts[part] = nextInPart(part, object);
            }
        }
        join(links.before(object), links.after(object));
    }

    /** From now on all that is there is one part, the first, in the order it has. */
    public void unite() {
        int first = first();
        Arrays.fill(firsts, Links.NONE);
        firsts[0] = first;
    }

    /** Whether an object is where {@link #add} would bring it. */
    public boolean isLastOfPart(int object) {
        int part = links.uses(object);
        return firsts[part] != Links.NONE && links.after(object) == firstFrom(part + 1);
    }

    private int firstFrom(int part) {
        for (int i = part; i <= USES_MAX; i++) {
            if (firsts[i] != Links.NONE) {
                return firsts[i];
            }
        }
        return Links.NONE;
    }

    private void insertBefore(int next, int object) {
        int before = next == Links.NONE ? last : links.before(next);
        join(before, object);
        join(object, next);
    }

    /** Makes the second follow the first; each may be {@link Links#NONE}, the end of the order. */
    private void join(int before, int after) {
        if (before != Links.NONE) {
            links.setAfter(before, after);
        }
        if (after != Links.NONE) {
            links.setBefore(after, before);
        } else {
            last = before;
        }
    }
}
