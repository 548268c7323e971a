// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.warmup;

import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeCommand.Activate;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.dataplane.wire.message.NodeCommand.Fence;
import dev.kvpool.dataplane.wire.message.NodeCommand.Free;
import dev.kvpool.dataplane.wire.message.NodeMessage.Changes;
import dev.kvpool.dataplane.wire.message.NodeMessage.CommandAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.FenceAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.Restored;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotBegin;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Medium;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** What the node of a {@link ScratchPool} says: it has slots and no bytes, and obeys. */
final class ScratchNode {
    private static final long SLOTS = 1 << 12;
    private static final long EXTENT_BYTES = 8_192;

    private final long incarnation;
    private final Deque<Long> free = new ArrayDeque<>();
    private Authority seen = Authority.NONE;
    private long generation;
    private long sequence;

    ScratchNode(long incarnation) {
        this.incarnation = incarnation;
        for (long slot = 0; slot < SLOTS; slot++) {
            free.add(slot);
        }
    }

    /** Itself, and that it has no objects. */
    List<Message> introduction() {
        Segment segment = new Segment(0, Medium.DRAM, SLOTS * EXTENT_BYTES, SLOTS);
        NodeInfo info = new NodeInfo(
                seen,
                ObjectId.NONE,
                0,
                ObjectId.NONE,
                false,
                Restored.NOTHING,
                1,
                ActiveVersions.UNKNOWN,
                List.of(segment),
                "127.0.0.1:1",
                "",
                "");
        return List.of(info, new SnapshotBegin(sequence), new SnapshotEnd(0, sequence));
    }

    /** A client has written an object. */
    DirectoryRecord store(ObjectId id, Key key, long payloadBytes) {
        long slot = free.remove();
        generation++;
        ExtentRef extent = new ExtentRef(0, slot, generation);
        return DirectoryRecord.committed(extent, id, slot * EXTENT_BYTES, EXTENT_BYTES, payloadBytes, 1, key);
    }

    Changes changes(List<DirectoryRecord> records) {
        Changes changes = new Changes(sequence + 1, records);
        sequence += records.size();
        return changes;
    }

    /** What it answers to something a leader sends. */
    List<Message> obey(Message command) {
        return switch (command) {
            case Fence it -> {
                seen = it.authority();
                yield List.of(new FenceAck(it.requestId(), true, seen, incarnation, sequence, 0, ObjectId.NONE));
            }
            case Free it -> List.of(changes(freed(it)), done(it.requestId()));
            case Activate it -> List.of(done(it.requestId()));
            default -> List.of();
        };
    }

    private List<DirectoryRecord> freed(Free command) {
        List<DirectoryRecord> records = new ArrayList<>();
        for (Extent extent : command.extents()) {
            free.add(extent.extent().slot());
            records.add(DirectoryRecord.freed(extent.extent(), extent.objectId()));
        }
        return records;
    }

    private CommandAck done(long requestId) {
        return new CommandAck(requestId, true, seen, Status.OK);
    }
}
