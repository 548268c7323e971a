// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.membership;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.Objection;
import dev.kvpool.wire.RefusalCode;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Nodes whose stream this master could not follow, and until when it does not let them in again. A node that is set apart is away
 * like any other that has no connection; the rest of the pool goes on. The wait doubles each time, up to a bound. One whose process
 * was replaced since, or for which there is room again, comes sooner: something has changed.
 */
public final class NodesSetApart {
    /** Why, and how long the first wait and the longest are. */
    public enum Cause {
        /** It broke the rules of the wire. To hear its directory again costs little. */
        VIOLATION(1_000, 60_000),
        /** What it shows has no room in the index. */
        INDEX_FULL(10_000, 300_000),
        /** The core threw while it applied what the node told; each time that costs this master its view. */
        DEFECT(10_000, 3_600_000);

        private final long firstMs;
        private final long longestMs;

        Cause(long firstMs, long longestMs) {
            this.firstMs = firstMs;
            this.longestMs = longestMs;
        }
    }

    /** A node that nothing was wrong with for so long begins with the first wait again. */
    private static final long FORGIVEN_MS = 600_000;

    private static final class Entry {
        private Cause cause;
        private String reason;
        private long incarnation;
        private long sinceMs;
        private long waitMs;
        private boolean waits;
    }

    private final Map<String, Entry> byId = new TreeMap<>();

    /**
     * Sets a node apart.
     *
     * @param reason a sentence
     * @return the same, and when it is let in again
     */
    public String setApart(NodePeer peer, Cause cause, String reason, long nowMs) {
        if (byId.size() >= Bounds.NODES_MAX && !byId.containsKey(peer.id())) {
            byId.values().remove(oldest());
        }
        Entry entry = byId.computeIfAbsent(peer.id(), id -> new Entry());
        entry.waitMs = entry.waitMs == 0 ? cause.firstMs : Math.clamp(2 * entry.waitMs, cause.firstMs, cause.longestMs);
        entry.cause = cause;
        entry.incarnation = peer.incarnation();
        entry.sinceMs = nowMs;
        entry.waits = true;
        entry.reason = "set apart for " + entry.waitMs / 1_000 + " s, less when "
                + (cause == Cause.INDEX_FULL ? "there is room again" : "its process is replaced") + ": " + reason;
        return entry.reason;
    }

    private Entry oldest() {
        return byId.values().stream()
                .min(Comparator.comparingLong(entry -> entry.sinceMs))
                .orElseThrow();
    }

    /**
     * Whether a process may speak for a node now.
     *
     * @param hasRoom whether a node that did not fit may try again
     */
    Optional<Objection> objection(NodePeer peer, boolean hasRoom, long nowMs) {
        Entry entry = byId.get(peer.id());
        if (entry == null || !entry.waits || nowMs - entry.sinceMs >= wait(entry, peer, hasRoom)) {
            return Optional.empty();
        }
        return Optional.of(new Objection(RefusalCode.SET_APART, "node " + peer.id() + " is " + entry.reason));
    }

    private static long wait(Entry entry, NodePeer peer, boolean hasRoom) {
        boolean replaced = peer.incarnation() != entry.incarnation;
        return switch (entry.cause) {
            case VIOLATION -> replaced ? 0 : entry.waitMs;
            case INDEX_FULL -> hasRoom ? Math.min(entry.waitMs, Cause.INDEX_FULL.firstMs) : entry.waitMs;
            // What made the core throw may be in its segment, and a process that dies and comes back has it still.
            case DEFECT -> replaced ? Cause.DEFECT.firstMs : entry.waitMs;
        };
    }

    /** A node was let in. */
    void admitted(String id, long nowMs) {
        Entry entry = byId.get(id);
        if (entry != null) {
            entry.waits = false;
            entry.sinceMs = nowMs;
        }
    }

    /** Why a node is set apart, empty when it is not. */
    public Optional<String> reason(String id) {
        Entry entry = byId.get(id);
        return entry != null && entry.waits ? Optional.of(entry.reason) : Optional.empty();
    }

    public boolean isSetApart(String id) {
        return reason(id).isPresent();
    }

    /** Ids of the nodes that are set apart. */
    public Iterable<String> ids() {
        return () -> byId.entrySet().stream()
                .filter(entry -> entry.getValue().waits)
                .map(Map.Entry::getKey)
                .iterator();
    }

    public void tick(long nowMs) {
        byId.values().removeIf(entry -> nowMs - entry.sinceMs > FORGIVEN_MS + (entry.waits ? entry.waitMs : 0));
    }
}
