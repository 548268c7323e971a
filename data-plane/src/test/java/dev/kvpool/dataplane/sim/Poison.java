// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.master.core.PoisonedRecords;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeMessage.Changes;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotRecords;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A bug of ours that records of one node meet for a while: a core throws in the middle of one of its messages. */
final class Poison {
    /** A master leaves a node out for 10 s by its own clock. */
    private static final long APART_MS_MIN = 9_900;

    private final World world;
    private String node = "";
    private long untilMs;
    private final Map<String, Long> thrownMs = new HashMap<>();

    Poison(World world) {
        this.world = world;
    }

    /** What this node tells from now on is poison. */
    void begin(String id, long forMs) {
        node = id;
        untilMs = world.nowMs() + forMs;
    }

    void end() {
        untilMs = 0;
    }

    /** A new life of the master remembers nothing. */
    void forget() {
        thrownMs.clear();
    }

    /** Whether records that this node tells now are poison. */
    boolean isOf(NodePeer from) {
        return from != null && from.id().equals(node) && world.nowMs() < untilMs;
    }

    /** The message as the core meets it. */
    Message in(NodePeer from, Message message) {
        if (!isOf(from)) {
            return message;
        }
        return switch (message) {
            case Changes it -> new Changes(it.sequence(), poisoned(it.records()));
            case SnapshotRecords it -> new SnapshotRecords(poisoned(it.records()));
            default -> message;
        };
    }

    private List<DirectoryRecord> poisoned(List<DirectoryRecord> records) {
        return records.isEmpty() ? records : PoisonedRecords.of(records, world.random.nextInt(records.size()));
    }

    /** The core has thrown. */
    void thrown(SimMaster master, NodePeer from) {
        Long before = thrownMs.put(from.id(), world.nowMs());
        Violation.unless(
                before == null || world.nowMs() - before >= APART_MS_MIN,
                "a node that made the core throw stays out",
                "%s let %s in again after %d ms",
                master,
                from,
                before == null ? 0 : world.nowMs() - before);
    }
}
