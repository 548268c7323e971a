// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

/** Hears what happens to a node's segment, after every input of the node. */
interface NodeWatch {
    /** The directory or the state may have changed. */
    void changed(SimNode node);

    /** All bytes are about to be lost. */
    void wiped(SimNode node);

    /** Another memory has taken the place of the one it had. */
    void swapped(SimNode node);

    /** Bytes of an object in its memory are about to change. */
    void damaged(SimNode node, SegmentImage.Slot slot);

    /** The table on its SSD may have changed. */
    void ssdChanged(SimNode node);

    /** An object was read from its SSD for a client or another node. */
    void ssdRead(SimNode node);

    /** All that is on its SSD is about to be lost. */
    void ssdLost(SimNode node);

    /** The node died by itself, at a store where it was to be cut. */
    void died(SimNode node);

    /** A life ended, and its transfers with it. */
    void ended(SimNode node);

    /** Bytes of the segment are being written by a client, or sent to one. */
    void transferBegins(SimNode node, long connection, long offset, long length, boolean into);

    void transferEnds(SimNode node, long connection);
}
