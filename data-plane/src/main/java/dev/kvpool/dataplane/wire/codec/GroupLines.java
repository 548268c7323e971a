// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

/**
 * A message says itself how long a line of its groups is. One shorter than its fields would alias what follows, and with lines
 * of no length a few bytes would be 65535 lines, or that many for each line of the group around it.
 */
final class GroupLines {
    private GroupLines() {}

    /**
     * Lets lines pass that hold every field of version 1.
     *
     * @param said length of a line as the message has it
     * @throws IllegalArgumentException when it is less than {@code needed}
     */
    static void check(int said, int needed) {
        if (said < needed) {
            throw new IllegalArgumentException("a line of a group has " + said + " bytes, less than " + needed);
        }
    }
}
