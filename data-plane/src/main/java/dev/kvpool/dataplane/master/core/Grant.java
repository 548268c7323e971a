// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Leave to put one object: room is set aside on its targets until they commit or the grant ends. */
final class Grant {
    /** A client that waits for its publish until the named nodes' records have arrived. */
    record PublishWait(PendingReply reply, int line, Set<Long> incarnations, long untilMs) {}

    /** The connection that asked for it. */
    final long session;

    final ObjectId id;
    final Key key;
    final long extentBytes;
    final long deadlineMs;

    /** An upsert: what has the key when it is published gives way at once. */
    final boolean replaces;

    final List<NodeView> targets;

    /** Copies the object should have. */
    final int wanted;

    final List<PublishWait> waits = new ArrayList<>(1);
    private final Set<NodeView> reserved;

    /** Its connection ended. The writer may still finish, but nobody waits for it any more. */
    boolean abandoned;

    Grant(
            long session,
            ObjectId id,
            Key key,
            long extentBytes,
            List<NodeView> targets,
            int wanted,
            long deadlineMs,
            boolean replaces) {
        this.replaces = replaces;
        this.session = session;
        this.id = id;
        this.key = key;
        this.extentBytes = extentBytes;
        this.targets = targets;
        this.wanted = wanted;
        this.deadlineMs = deadlineMs;
        this.reserved = new HashSet<>(targets);
        for (NodeView node : targets) {
            node.grantedBytes += extentBytes;
            node.grantedSlots++;
        }
    }

    /** From the node's record on, the bytes count as used instead of granted. */
    void release(NodeView node) {
        if (reserved.remove(node)) {
            node.grantedBytes -= extentBytes;
            node.grantedSlots--;
        }
    }

    /** Whether some target has not shown the object. */
    boolean isOpen() {
        return !reserved.isEmpty();
    }

    void releaseAll() {
        targets.forEach(this::release);
    }
}
