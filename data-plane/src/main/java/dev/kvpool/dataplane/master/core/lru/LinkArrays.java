// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

/** Links in arrays of their own, for objects that keep none. */
final class LinkArrays implements Links {
    private final int[] before;
    private final int[] after;
    private final boolean[] isProtected;

    /** For the objects from 0 to one less than the count. */
    LinkArrays(int count) {
        before = new int[count];
        after = new int[count];
        isProtected = new boolean[count];
    }

    @Override
    public int before(int object) {
        return before[object];
    }

    @Override
    public int after(int object) {
        return after[object];
    }

    @Override
    public void setBefore(int object, int other) {
        before[object] = other;
    }

    @Override
    public void setAfter(int object, int other) {
        after[object] = other;
    }

    @Override
    public boolean isProtected(int object) {
        return isProtected[object];
    }

    @Override
    public void setProtected(int object, boolean to) {
        isProtected[object] = to;
    }
}
