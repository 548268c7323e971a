// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

/**
 * The order of eviction: a segmented LRU. The probationary segment is evicted first. New objects enter at its end, objects that are used
 * move to the end of the protected segment, and what no longer fits there goes back to the end of the probationary one. With no room for
 * protected objects it is a plain LRU.
 */
public final class SegmentedLru {
    /** So many objects leave the protected segment for each that enters it, so that a smaller one is reached without a long turn. */
    private static final int DEMOTED_PER_APPEND = 2;

    private final Links links;
    private int first = Links.NONE;
    private int last = Links.NONE;
    private int firstProtected = Links.NONE;
    private int protectedCount;
    private int protectedMax;

    public SegmentedLru(Links links) {
        this.links = links;
    }

    /** The next to be evicted, {@link Links#NONE} when there is none. */
    public int first() {
        return first;
    }

    public int last() {
        return last;
    }

    /** How many objects the protected segment has room for. */
    public void setProtectedMax(int objects) {
        protectedMax = objects;
    }

    int protectedCount() {
        return protectedCount;
    }

    /** Adds a new object in front of the protected ones; false, and nothing is done, where none are protected. */
    public boolean enter(int object) {
        if (protectedMax == 0) {
            return false;
        }
        insertBefore(firstProtected, object);
        return true;
    }

    /** Adds an object as the last to be evicted. */
    public void append(int object) {
        insertBefore(Links.NONE, object);
        if (protectedMax > 0 || firstProtected != Links.NONE) {
            links.setProtected(object, true);
            firstProtected = firstProtected == Links.NONE ? object : firstProtected;
            protectedCount++;
            demote();
        }
    }

    private void demote() {
        for (int i = 0; i < DEMOTED_PER_APPEND && protectedCount > protectedMax; i++) {
            links.setProtected(firstProtected, false);
            firstProtected = links.after(firstProtected);
            protectedCount--;
        }
    }

    /** Whether an object is where its use would bring it: else it is to be removed and appended. */
    public boolean isTouched(int object) {
        return object == last && links.isProtected(object) == protectedMax > 0;
    }

    public void remove(int object) {
        int before = links.before(object);
        int after = links.after(object);
        if (links.isProtected(object)) {
            links.setProtected(object, false);
            firstProtected = firstProtected == object ? after : firstProtected;
            protectedCount--;
        }
        join(before, after);
    }

    private void insertBefore(int next, int object) {
        int before = next == Links.NONE ? last : links.before(next);
        join(before, object);
        join(object, next);
    }

    /** Makes the second follow the first; each may be {@link Links#NONE}, the end of the order. */
    private void join(int before, int after) {
        if (before == Links.NONE) {
            first = after;
        } else {
            links.setAfter(before, after);
        }
        if (after == Links.NONE) {
            last = before;
        } else {
            links.setBefore(after, before);
        }
    }
}
