// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

/**
 * The versions a pool speaks and writes, whatever more its members understand. Nodes keep them, a leader raises them, nothing
 * lowers them. 0 stands for a number that nobody knows.
 *
 * @param wire of the wire protocol
 * @param layout of the segments
 */
public record ActiveVersions(int wire, int layout) {
    public static final ActiveVersions UNKNOWN = new ActiveVersions(0, 0);

    /** The higher of each. */
    public ActiveVersions or(ActiveVersions other) {
        return new ActiveVersions(Math.max(wire, other.wire), Math.max(layout, other.layout));
    }

    /** Whether one of these numbers is above the other's. */
    public boolean exceeds(ActiveVersions other) {
        return wire > other.wire || layout > other.layout;
    }

    @Override
    public String toString() {
        return "wire " + wire + ", segment layout " + layout;
    }
}
