// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.register;

/**
 * How far the emptying of a node is, so that it goes on under the next leader.
 *
 * @param incarnation of the process that is to be emptied
 * @param startedAtMs when it was asked for, as the one who asked said
 * @param leftMs how much time there was left for it when this was written: clocks of machines differ, so no moment is
 * @param clears whether nothing is to be left there, not even what others have too
 */
public record DrainEntry(
        Stage stage,
        long incarnation,
        long startedAtMs,
        long leftMs,
        long objectsMoved,
        long bytesMoved,
        boolean clears) {
    /** What the node is doing. */
    public enum Stage {
        DRAINING,
        DRAINED,
        TIMED_OUT
    }
}
