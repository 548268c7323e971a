// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

/** Of a master without subscribers. */
public record NoEvents() implements EventNumbers {
    @Override
    public int subscribers() {
        return 0;
    }

    @Override
    public long snapshots() {
        return 0;
    }

    @Override
    public long cut() {
        return 0;
    }
}
