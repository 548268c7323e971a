// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.NodeMessage.Changes;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotBegin;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotRecords;
import java.util.List;
import java.util.function.LongSupplier;

/** A connection of a node to a master: what the node has, and then each change of it. */
final class ModelStream {
    private static final int SNAPSHOT_PART = 3;

    Link link;
    private boolean begun;
    private boolean poisoned;
    private long sent;

    void begin(World world, ModelMedia media, LongSupplier sequence) {
        link.toMaster(new SnapshotBegin(sequence.getAsLong()));
        begun = true;
        sendPart(world, media, sequence, 0);
    }

    /** A few records at a time, so that changes and fences come in between. */
    private void sendPart(World world, ModelMedia media, LongSupplier sequence, long afterSlot) {
        if (!link.isOpen()) {
            return;
        }
        List<DirectoryRecord> part = media.memory().after(afterSlot, SNAPSHOT_PART);
        sent += part.size();
        if (part.isEmpty()) {
            sent += media.ssd().all().size();
            link.toMaster(new SnapshotRecords(media.ssd().all()));
            link.toMaster(new SnapshotEnd(sent, sequence.getAsLong()));
            return;
        }
        link.toMaster(new SnapshotRecords(part));
        long last = part.getLast().extent().slot();
        world.in(world.delayMs(), () -> sendPart(world, media, sequence, last));
    }

    void change(long sequence, DirectoryRecord record) {
        if (begun) {
            List<DirectoryRecord> records = List.of(record);
            link.toMaster(new Changes(sequence, poisoned ? PoisonedRecords.of(List.of(record, record), 1) : records));
            poisoned = false;
        }
    }

    /** The next change makes the core throw when a part of its message has been applied. */
    void poison() {
        poisoned = true;
    }
}
