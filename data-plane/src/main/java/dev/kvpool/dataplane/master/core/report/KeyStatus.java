// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.report;

import java.util.List;
import java.util.OptionalLong;

/**
 * Whether a key is in the pool, where, and if not, why: as the leader knows it at one moment.
 *
 * @param state what a reader would meet
 * @param cause why it is not readable; {@link Cause#NONE} when it is, or is being put
 * @param goneForMs for how long it has been gone; empty when it is not, or the leader does not know
 * @param bytes length of the value; empty when there is none
 * @param leased whether a reader has a promise that it stays
 * @param holders where it lies, memory before SSD; also nodes that are away
 * @param unheard nodes of the pool that have not told this leader what they hold, and may hold the key
 * @param purgedForMs how long ago everything was removed at once under this leader; empty when it was not
 * @param remembersForMs for how long this leader has remembered every removal and eviction
 */
public record KeyStatus(
        State state,
        Cause cause,
        OptionalLong goneForMs,
        OptionalLong bytes,
        boolean leased,
        List<Holder> holders,
        List<String> unheard,
        OptionalLong purgedForMs,
        long remembersForMs) {
    /** What a reader would meet. */
    public enum State {
        READABLE,
        /** The leader knows the key, or cannot exclude it, and may send no reader anywhere now. */
        UNAVAILABLE,
        /** A client has the grant to write it. */
        BEING_PUT,
        ABSENT
    }

    /** Why a key is not readable. */
    public enum Cause {
        NONE,
        /** Never put, or gone before this leader remembers. */
        UNKNOWN,
        EVICTED,
        REMOVED,
        /** The nodes that held it came back without it, or ended. */
        LOST,
        /** The nodes that hold it are away. */
        NODES_AWAY,
        /** The nodes that hold it are refused, since their version does not fit. */
        VERSION,
        /** The nodes that hold it have missed removals, and nobody was met who knows whether this key is among them. */
        BEHIND,
        /** Memory within engines that takes part in the pool has not been heard yet. */
        UNHEARD
    }

    /**
     * A replica.
     *
     * @param node id of its storage node
     * @param inMemory false: on the node's SSD
     * @param reachable whether readers may be sent to the node
     * @param behind whether the node has missed removals and has not caught up
     * @param leaving whether the node is being emptied
     */
    public record Holder(String node, boolean inMemory, boolean reachable, boolean behind, boolean leaving) {}

    public KeyStatus {
        holders = List.copyOf(holders);
        unheard = List.copyOf(unheard);
    }
}
