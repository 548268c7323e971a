// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

/** Versions a binary understands, both ends included. */
public record VersionRange(int min, int max) {
    /** The highest version both know, or 0 when there is none. */
    public int highestCommon(VersionRange other) {
        int highest = Math.min(max, other.max);
        return highest >= Math.max(min, other.min) && highest > 0 ? highest : 0;
    }

    @Override
    public String toString() {
        return min == max ? Integer.toString(min) : min + "-" + max;
    }
}
