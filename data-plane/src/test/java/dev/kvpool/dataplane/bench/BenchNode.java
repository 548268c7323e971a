// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.bench;

import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.dataplane.wire.message.NodeCommand.Fence;
import dev.kvpool.dataplane.wire.message.NodeCommand.Free;
import dev.kvpool.dataplane.wire.message.NodeMessage.Changes;
import dev.kvpool.dataplane.wire.message.NodeMessage.CommandAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.FenceAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.Restored;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Medium;
import java.util.ArrayList;
import java.util.List;

/** What a storage node says to its master, without bytes and with hardly any memory of its own. */
final class BenchNode {
    static final long PAYLOAD = 64 << 10;
    static final long EXTENT = PAYLOAD + 64;
    private static final Authority NOBODY = Authority.NONE;

    private final int number;
    private final long objects;

    /** Slots that were freed, in a ring: the first to be used again is the one freed first. */
    private final int[] freeSlots;

    private long taken;
    private long returned;
    private long generation;
    private long sequence;
    private Authority seen = NOBODY;

    /** A node with room for so many objects. */
    BenchNode(int number, long objects) {
        this.number = number;
        this.objects = objects;
        this.freeSlots = new int[(int) objects];
        for (int i = 0; i < objects; i++) {
            freeSlots[i] = i;
        }
        returned = objects;
    }

    /** How many objects it has room for. */
    long capacity() {
        return objects;
    }

    String name() {
        return "node-" + number;
    }

    long session() {
        return number;
    }

    long incarnation() {
        return 0x1000L + number;
    }

    NodeInfo introduction() {
        Segment segment = new Segment(0, Medium.DRAM, objects * EXTENT, objects * 2);
        return new NodeInfo(
                seen,
                ObjectId.NONE,
                0,
                new ObjectId(1, Long.MAX_VALUE),
                false,
                Restored.NOTHING,
                1,
                ActiveVersions.UNKNOWN,
                List.of(segment),
                "10.0.0." + number + ":50061",
                "",
                "");
    }

    /** An object in the next free slot. */
    DirectoryRecord store(ObjectId id, Key key) {
        if (taken == returned) {
            throw new IllegalStateException("the benchmark's node is full");
        }
        long slot = freeSlots[(int) (taken % objects)];
        taken++;
        generation++;
        return DirectoryRecord.committed(
                new ExtentRef(0, slot, generation), id, slot * EXTENT + 64, EXTENT, PAYLOAD, (int) id.counter(), key);
    }

    Changes changes(List<DirectoryRecord> records) {
        Changes changes = new Changes(sequence + 1, records);
        sequence += records.size();
        return changes;
    }

    FenceAck obey(Fence fence) {
        seen = fence.authority();
        return new FenceAck(fence.requestId(), true, seen, incarnation(), sequence, 0, ObjectId.NONE);
    }

    List<Message> free(Free free) {
        List<DirectoryRecord> records = new ArrayList<>();
        for (Extent extent : free.extents()) {
            freeSlots[(int) (returned % objects)] = (int) extent.extent().slot();
            returned++;
            records.add(DirectoryRecord.freed(extent.extent(), extent.objectId()));
        }
        return List.of(changes(records), new CommandAck(free.requestId(), true, seen, Status.OK));
    }
}
