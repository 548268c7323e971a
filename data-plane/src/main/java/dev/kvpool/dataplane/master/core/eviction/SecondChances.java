// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.StoredObject;

/**
 * Not recency alone says what is worth its place: what was used again since it was put stays when its turn to be evicted comes, behind
 * all others, at the price of half of what is remembered of its uses. So many do from one tick to the next, so that room comes also
 * where everything was used again.
 */
final class SecondChances {
    private static final int PER_TICK = Bounds.EVICTION_VISITS / 2;
    private final Index index;
    private int left = PER_TICK;

    SecondChances(Index index) {
        this.index = index;
    }

    void tick() {
        left = PER_TICK;
    }

    /** Whether the object that would be evicted now stays. */
    boolean has(StoredObject object) {
        if (left == 0 || object.uses() == 0) {
            return false;
        }
        left--;
        index.outlived(object);
        return true;
    }
}
