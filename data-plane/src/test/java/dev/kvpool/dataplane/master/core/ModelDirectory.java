// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.wire.RecordState;
import java.util.List;
import java.util.TreeMap;

/** What a modelled node keeps in its segment, or on its SSD. It outlives the node's process. */
final class ModelDirectory {
    private final int segment;
    private final long capacityBytes;
    private final TreeMap<Long, DirectoryRecord> records = new TreeMap<>();
    private long generations;

    ModelDirectory(int segment, long capacityBytes) {
        this.segment = segment;
        this.capacityBytes = capacityBytes;
    }

    long sizeOf(Key key, long payloadLength) {
        return segment == ExtentRef.SSD ? ExtentSize.onSsd(payloadLength) : ExtentSize.of(key.length(), payloadLength);
    }

    long capacityBytes() {
        return capacityBytes;
    }

    boolean fits(long bytes) {
        long used = records.values().stream()
                .mapToLong(DirectoryRecord::extentBytes)
                .sum();
        return used + bytes <= capacityBytes;
    }

    /** The object with the place it got. */
    DirectoryRecord add(DirectoryRecord object) {
        generations++;
        long slot = freeSlot();
        DirectoryRecord record = new DirectoryRecord(
                object.state(),
                new ExtentRef(segment, slot, generations),
                object.objectId(),
                slot * 4096,
                sizeOf(object.key(), object.payloadLength()),
                object.payloadLength(),
                object.payloadCrc(),
                object.retention(),
                object.key());
        records.put(slot, record);
        return record;
    }

    /** Slots are used again at once, so that only the generation tells what they hold. */
    private long freeSlot() {
        long slot = 1;
        while (records.containsKey(slot)) {
            slot++;
        }
        return slot;
    }

    /** The record of an extent that still holds this object, or null. */
    DirectoryRecord find(Extent extent) {
        DirectoryRecord record = records.get(extent.extent().slot());
        boolean same = record != null
                && record.extent().equals(extent.extent())
                && record.objectId().equals(extent.objectId());
        return same ? record : null;
    }

    void remove(DirectoryRecord record) {
        records.remove(record.extent().slot());
    }

    List<DirectoryRecord> all() {
        return List.copyOf(records.values());
    }

    List<DirectoryRecord> ofState(RecordState state) {
        return records.values().stream()
                .filter(record -> record.state() == state)
                .toList();
    }

    /** The next records behind a slot, at most {@code limit}. */
    List<DirectoryRecord> after(long slot, int limit) {
        return records.tailMap(slot, false).values().stream().limit(limit).toList();
    }

    ObjectId highest() {
        ObjectId highest = ObjectId.NONE;
        for (DirectoryRecord record : records.values()) {
            highest = record.objectId().isNewerThan(highest) ? record.objectId() : highest;
        }
        return highest;
    }

    void wipe() {
        records.clear();
        generations = 0;
    }
}
