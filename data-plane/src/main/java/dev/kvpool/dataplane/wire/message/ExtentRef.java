// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

/**
 * Names an extent on a node.
 *
 * @param segment index of the segment, unsigned 16 bits
 * @param slot place in the directory of the segment, unsigned 32 bits
 * @param generation makes the extent unique in its segment for ever
 */
public record ExtentRef(int segment, long slot, long generation) {
    /** Segment of a node's memory. */
    public static final int MEMORY = 0;

    /** Segment of a node's SSD tier, which is read through the node only. */
    public static final int SSD = 1;

    public static final ExtentRef NONE = new ExtentRef(0, 0, 0);

    // As in ObjectId.

    @Override
    public boolean equals(Object other) {
        return other instanceof ExtentRef extent
                && extent.segment == segment
                && extent.slot == slot
                && extent.generation == generation;
    }

    @Override
    public int hashCode() {
        return 31 * (31 * segment + Long.hashCode(slot)) + Long.hashCode(generation);
    }
}
