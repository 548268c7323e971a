// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Medium;
import dev.kvpool.wire.RecordState;
import java.util.ArrayList;
import java.util.List;

/** Where a node keeps objects: its memory, and an SSD if it has one. */
final class ModelMedia {
    private static final int SLOTS = 1024;

    private ModelDirectory memory;
    private ModelDirectory hiddenMemory;
    private ModelDirectory ssd = new ModelDirectory(ExtentRef.SSD, 0);
    private String ssdProblem = "";
    private long ssdNumber;
    private ModelDirectory hidden;
    private long hiddenNumber;

    /** What an SSD that failed would show to a new memory. */
    private final List<DirectoryRecord> stale = new ArrayList<>();

    ModelMedia(long memoryBytes) {
        memory = new ModelDirectory(ExtentRef.MEMORY, memoryBytes);
    }

    ModelDirectory memory() {
        return memory;
    }

    /** See {@link ModelNode#hideMemory}. */
    void hideMemory(boolean on) {
        if (on) {
            hiddenMemory = memory;
            memory = new ModelDirectory(ExtentRef.MEMORY, memory.capacityBytes());
        } else {
            memory = hiddenMemory;
        }
    }

    ModelDirectory ssd() {
        return ssd;
    }

    void addSsd(long capacityBytes) {
        ssd = new ModelDirectory(ExtentRef.SSD, capacityBytes);
        ssdNumber = 1;
    }

    long ssdNumber() {
        return ssdNumber;
    }

    /** The SSD cannot be opened in the next life, nor does that know of it, if its memory is new; with false it can be again, as it was. */
    void hideSsd(boolean on) {
        if (on) {
            hidden = ssd;
            hiddenNumber = ssdNumber;
            ssd = new ModelDirectory(ExtentRef.SSD, 0);
            ssdNumber = 0;
        } else {
            ssd = hidden;
            ssdNumber = hiddenNumber;
        }
    }

    /** Nothing is written to the SSD any more. */
    void breakSsd(String problem) {
        ssdProblem = problem;
        stale.addAll(ssd.all());
    }

    /** An SSD that failed is well again. Who has kept the memory beside it knows not to believe it, and formats it. */
    void restart(boolean isMemoryNew) {
        if (ssdProblem.isEmpty()) {
            return;
        }
        ssdProblem = "";
        if (isMemoryNew) {
            stale.forEach(ssd::add);
        } else {
            ssdNumber++;
        }
        stale.clear();
    }

    List<Segment> segments() {
        List<Segment> segments = new ArrayList<>();
        segments.add(new Segment(ExtentRef.MEMORY, Medium.DRAM, memory.capacityBytes(), SLOTS));
        if (ssd.capacityBytes() > 0 && ssdProblem.isEmpty()) {
            segments.add(new Segment(ExtentRef.SSD, Medium.SSD, ssd.capacityBytes(), SLOTS));
        }
        return segments;
    }

    List<DirectoryRecord> all() {
        List<DirectoryRecord> all = new ArrayList<>(memory.all());
        all.addAll(ssd.all());
        return all;
    }

    /** What the extent still holds; null if not that object. */
    DirectoryRecord find(Extent extent) {
        return of(extent).find(extent);
    }

    boolean holds(Medium medium, ObjectId id) {
        return of(medium).ofState(RecordState.COMMITTED).stream()
                .anyMatch(record -> record.objectId().equals(id));
    }

    void remove(DirectoryRecord record) {
        of(new Extent(record.extent(), record.objectId())).remove(record);
    }

    /** Whether another object may be added. */
    Status room(Medium medium, DirectoryRecord object) {
        if (medium == Medium.SSD && !ssdProblem.isEmpty()) {
            return Status.UNAVAILABLE;
        }
        ModelDirectory directory = of(medium);
        return directory.fits(directory.sizeOf(object.key(), object.payloadLength())) ? Status.OK : Status.NO_SPACE;
    }

    /** The object with the place it got. */
    DirectoryRecord add(Medium medium, DirectoryRecord object) {
        return of(medium).add(object);
    }

    private ModelDirectory of(Medium medium) {
        return medium == Medium.SSD ? ssd : memory;
    }

    private ModelDirectory of(Extent extent) {
        return extent.extent().segment() == ExtentRef.SSD ? ssd : memory;
    }
}
