// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

/** Versions a binary understands, both ends included. */
public record VersionRange(int min, int max) {
    public VersionRange {
        if (min < 0 || max < min) {
            throw new IllegalArgumentException("not a version range: " + min + " to " + max);
        }
    }

    public boolean contains(int version) {
        return min <= version && version <= max;
    }

    @Override
    public String toString() {
        return min == max ? Integer.toString(min) : min + "-" + max;
    }
}
