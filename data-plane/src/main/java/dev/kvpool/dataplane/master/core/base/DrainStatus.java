// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import java.util.List;

/**
 * How far the emptying of a node is.
 *
 * @param startedAtMs when it was asked for, as the one who asked said
 * @param objectsLeft objects that only this node holds: as the last pass over all objects counted them, less what was moved since
 * @param leftovers the same as the pass counted them
 */
public record DrainStatus(
        String node,
        State state,
        long startedAtMs,
        long objectsLeft,
        long bytesLeft,
        long objectsMoved,
        long bytesMoved,
        List<Leftover> leftovers) {
    /** What has become of it. In all but {@code CANCELLED} the node takes nothing new. */
    public enum State {
        DRAINING,
        /** Nothing is left there that another node has not, and no reader was promised otherwise. */
        DRAINED,
        CANCELLED,
        /** Its time is over; what is left is told. */
        TIMED_OUT
    }

    /** What has not been moved, by medium and reason. */
    public record Leftover(String tier, long objects, long bytes, String reason) {}

    public DrainStatus {
        leftovers = List.copyOf(leftovers);
    }
}
