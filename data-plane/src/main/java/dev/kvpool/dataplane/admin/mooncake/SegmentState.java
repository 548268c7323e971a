// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin.mooncake;

import dev.kvpool.dataplane.master.core.report.PoolStatus.NodeState;

/** How a storage node stands, in Mooncake's words for a segment; numbered as there. */
enum SegmentState {
    /** The pool expects it, and it is not to be read from now. Mooncake does not know such a segment any more. */
    UNDEFINED(0),
    OK(1),
    DRAINING(2),
    DRAINED(3);

    private final int number;

    SegmentState(int number) {
        this.number = number;
    }

    static SegmentState of(NodeState state) {
        return switch (state) {
            case READY -> OK;
            case DRAINING -> DRAINING;
            case DRAINED -> DRAINED;
            case SYNCING, AWAY, REFUSED, SET_APART -> UNDEFINED;
        };
    }

    int number() {
        return number;
    }
}
