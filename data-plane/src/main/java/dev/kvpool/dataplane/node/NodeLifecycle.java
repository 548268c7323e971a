// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import dev.kvpool.nativelib.KvException;
import dev.kvpool.nativelib.NativeNode;
import dev.kvpool.nativelib.NativeStats;
import dev.kvpool.nativelib.Status;
import java.util.Optional;

/** What HTTP may know of the node, from before its segment is open until it closes. */
final class NodeLifecycle {
    private enum Phase {
        OPENING,
        OPEN,
        CLOSING
    }

    private final String nodeId;
    private final String masters;
    private volatile Phase phase = Phase.OPENING;
    private volatile NativeNode node;

    NodeLifecycle(String nodeId, String masters) {
        this.nodeId = nodeId;
        this.masters = masters;
    }

    String nodeId() {
        return nodeId;
    }

    void opened(NativeNode opened) {
        node = opened;
        phase = Phase.OPEN;
    }

    void closing() {
        phase = Phase.CLOSING;
    }

    /** The node's numbers while it is open. */
    Optional<NativeStats> stats() {
        if (phase != Phase.OPEN) {
            return Optional.empty();
        }
        try {
            return Optional.of(node.stats());
        } catch (KvException e) {
            return Optional.empty(); // closed since the line above
        }
    }

    /** Why a protocol that was asked for is not served; empty when all are. */
    String explanation() {
        try {
            return phase == Phase.OPEN ? node.explain() : "";
        } catch (KvException e) {
            return ""; // closed since the line above
        }
    }

    /** Whether it was open and its own thread has ended since; the log says why. */
    boolean failed() {
        if (phase != Phase.OPEN) {
            return false;
        }
        try {
            node.stats();
            return false;
        } catch (KvException e) {
            return phase == Phase.OPEN && e.status() == Status.INTERNAL;
        }
    }

    Readiness readiness() {
        return switch (phase) {
            case OPENING -> Readiness.no("opening the segment");
            case CLOSING -> Readiness.no("stopping");
            case OPEN -> stats().map(stats -> Readiness.of(stats, masters)).orElse(Readiness.no("stopping"));
        };
    }
}
