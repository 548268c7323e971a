// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.ArrayList;
import java.util.List;

/** One object as the streams of the nodes show it. */
final class StoredObject {
    /** What the leader has decided about an object. */
    enum Fate {
        /** Seen in a node's stream; a standby decides nothing, a leader waits for the publish. */
        UNSETTLED,
        /** Readable under its key. */
        PUBLISHED,
        /** Evicted, removed, superseded or never published: every extent of it is freed as soon as its node can be told. */
        DOOMED
    }

    final ObjectId id;
    final Key key;
    final long payloadLength;
    final int payloadCrc;
    final List<Replica> replicas = new ArrayList<>(1);

    Fate fate = Fate.UNSETTLED;
    long leaseUntilMs = Long.MIN_VALUE;

    /** Replicas on usable nodes; kept by {@link Index}. */
    int usableReplicas;

    /** Neighbours in {@link Recency}. */
    StoredObject colder;

    StoredObject warmer;

    StoredObject(ObjectId id, Key key, long payloadLength, int payloadCrc) {
        this.id = id;
        this.key = key;
        this.payloadLength = payloadLength;
        this.payloadCrc = payloadCrc;
    }

    boolean isAvailable() {
        return usableReplicas > 0;
    }

    boolean isLeased(long nowMs) {
        return leaseUntilMs > nowMs;
    }

    void lease(long untilMs) {
        leaseUntilMs = Math.max(leaseUntilMs, untilMs);
    }

    boolean isOn(NodeView node) {
        for (Replica replica : replicas) {
            if (replica.node == node) {
                return true;
            }
        }
        return false;
    }
}
