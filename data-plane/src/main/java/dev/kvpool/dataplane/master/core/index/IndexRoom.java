// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.base.Bounds;
import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/**
 * How full the index is, and what follows from that. A full index is a full pool: objects are evicted to make room for records, and
 * where that does not do, nothing is put or copied any more. The last parts are kept: for what nodes commit that was granted
 * before, and before that for nodes which are in view, so that one that joins with more than has room is the one that waits.
 */
public final class IndexRoom {
    private final Index index;

    /** Puts were refused since the last tick although bytes are left: pages of blocks of another size hold them. */
    private boolean wantsPages;

    private boolean refuses;

    /** Whether eviction makes room, as it was seen last. */
    private boolean givesWay;

    public IndexRoom(Index index) {
        this.index = index;
    }

    public long usedBytes() {
        return index.recordBytes();
    }

    public long maxBytes() {
        return index.recordBytesMax();
    }

    private double fill() {
        return (double) index.recordBytes() / index.recordBytesMax();
    }

    /** Whether an object with a key of so many bytes may be granted. */
    public boolean takesPut(int keyLength) {
        boolean full = fill() >= Bounds.INDEX_PUTS;
        boolean fits = !isShortOfPages() || index.hasPlaceForObject(keyLength);
        wantsPages |= !full && !fits;
        return !full && fits;
    }

    /** Whether there is no room for grants. What makes it so is in no pool whose engines show only what was granted. */
    boolean isFull() {
        return fill() >= Bounds.INDEX_PUTS || isShortOfPages();
    }

    /** Whether copies may be begun: each is one more record. */
    public boolean takesCopies() {
        return !isFull();
    }

    private boolean isShortOfPages() {
        return index.recordPageBytes() >= Bounds.INDEX_SNAPSHOTS * index.recordBytesMax();
    }

    /** Whether a node that did not fit may try again. */
    public boolean takesNode() {
        return fill() < Bounds.INDEX_EVICT_ABOVE && !isShortOfPages();
    }

    /** Whether a node that is sending its snapshot may show what needs more room. */
    boolean takesSnapshot() {
        return fill() < Bounds.INDEX_SNAPSHOTS;
    }

    /**
     * What records of engines may take.
     *
     * @param isRest whether there are no storage nodes
     */
    public long lentBytesMax(boolean isRest) {
        return (long) ((isRest ? Bounds.INDEX_SNAPSHOTS : Bounds.INDEX_LENT) * maxBytes());
    }

    /**
     * How many replicas should be evicted to make room for records. What is on its way out counts as gone. What lies on nodes that
     * are away cannot be evicted; it may displace half of what else there would be, and no more.
     *
     * @param nodes all that are known
     */
    public long replicasToLose(Collection<NodeView> nodes) {
        double fill = fill();
        if (fill < Bounds.INDEX_EVICT_ABOVE && !wantsPages) {
            givesWay = false;
            return 0;
        }
        long all = 0;
        long freeing = 0;
        long usable = 0;
        for (NodeView node : nodes) {
            all += node.replicaCount();
            freeing += node.replicas.freeingCount();
            usable += node.usable ? node.replicaCount() : 0;
        }
        long kept = fill < Bounds.INDEX_EVICT_ABOVE
                ? (long) (all * (1 - Bounds.INDEX_EVICTED_FOR_PAGES))
                : (long) (all * Bounds.INDEX_EVICT_TO / fill);
        long toLose = Math.clamp(all - freeing - kept, 0, Math.max(0, usable - freeing - kept / 2));
        givesWay = toLose > 0 || freeing > 0;
        return toLose;
    }

    /** Whether somebody who is refused should ask again soon. */
    public boolean givesWay() {
        return givesWay;
    }

    /** A tick has done what it could; a line for the log when puts begin to be refused, or are granted again. */
    public Optional<String> tick() {
        boolean now = wantsPages || fill() >= (refuses ? Bounds.INDEX_EVICT_ABOVE : Bounds.INDEX_PUTS);
        wantsPages = false;
        if (now == refuses) {
            return Optional.empty();
        }
        refuses = now;
        return Optional.of(now ? problem() : "the index has room again: puts are granted");
    }

    /** Why puts are refused, and what helps; empty when they are not. */
    public String problem() {
        if (!refuses) {
            return "";
        }
        return String.format(
                Locale.ROOT,
                "the index is full: %d of the %d bytes that its records may take are in use, and at %.0f %% puts and copies are refused;"
                        + " give the masters more memory (up to 16 GiB of records, which takes a heap of 25 GiB), remove objects,"
                        + " or divide the pool",
                usedBytes(),
                maxBytes(),
                100 * Bounds.INDEX_PUTS);
    }
}
