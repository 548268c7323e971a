// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.room;

/** Sums of the extents that a node is known to hold on one medium, those that are being freed included. */
public interface Held {
    long count();

    long bytes();

    /** Bytes that the node was, or is about to be, told to free. */
    long freeingBytes();

    long freeingSlots();
}
