// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

/** Links in arrays of their own, for objects that keep none. */
final class LinkArrays implements Links {
    private final int[] before;
    private final int[] after;
    private final int[] uses;
    private final int[] usedAt;

    /** For the objects from 0 to one less than the count. */
    LinkArrays(int count) {
        before = new int[count];
        after = new int[count];
        uses = new int[count];
        usedAt = new int[count];
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
    public int uses(int object) {
        return uses[object];
    }

    @Override
    public int usedAt(int object) {
        return usedAt[object];
    }

    @Override
    public void setUsed(int object, int count, int at) {
        uses[object] = count;
        usedAt[object] = at;
    }
}
