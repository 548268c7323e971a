// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.master.core.slab.Slabs;

/**
 * What the records of the index may take of a master's memory. A heap that is full ends the process, and with it every master one
 * after the other, since all follow the same nodes; an index that is full refuses puts.
 */
final class IndexMemory {
    /** With its tables the index takes a tenth more; the rest is for requests, connections and the collector. What the operator gives a
     * master for the objects that are expected is enough for them below the mark at which eviction begins. */
    private static final double PART_OF_HEAP = 0.65;

    private IndexMemory() {}

    /** As much as the heap allows, up to what the index can name: 16 GiB, with a heap of 25 GiB. */
    static long ofHeap(long heapBytesMax) {
        return Math.min(Slabs.BYTES_NAMED, (long) (heapBytesMax * PART_OF_HEAP));
    }
}
