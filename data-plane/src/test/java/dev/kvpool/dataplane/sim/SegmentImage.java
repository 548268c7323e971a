// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.sim.nativecore.NativeMemory;
import dev.kvpool.dataplane.sim.nativecore.SegmentMemory;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * What the bytes of a segment say, read past the node by the layout of native/src/store/layout.h: the truth that masters
 * and nodes are checked against.
 */
final class SegmentImage {
    private static final long STATE_OFFSET = 4096;
    private static final long STATE_BYTES = 112;
    private static final long STATE_INCARNATION = 56;
    private static final long STATE_MEMORY = 72;
    private static final long STATE_ACTIVE_WIRE = 88;
    private static final long STATE_SSD = 92;
    private static final long PAGE_BYTES = 4096;
    private static final long DIRECTORY_OFFSET = 3 * PAGE_BYTES;
    static final long RECORD_BYTES = 128;
    private static final long EXTENT_ALIGNMENT = 64;
    private static final long SUM_BLOCK_BYTES = 65_536;
    private static final long SUM_BYTES = 4;
    private static final int RESERVED = 1;
    private static final int COMMITTED = 2;
    private static final int TOMBSTONE = 3;

    /** Slots are taken from the first on; this many unused ones behind the last that was ever used are the end. */
    private static final int UNUSED_MAX = 4;

    /**
     * A record that is whole.
     *
     * @param segment as in {@code ExtentRef}: of memory or of an SSD
     */
    record Slot(
            int segment,
            int number,
            boolean committed,
            boolean reserved,
            long generation,
            ObjectId id,
            long offset,
            long extentBytes,
            long payloadLength,
            int payloadCrc,
            String key) {
        /** In a segment in memory. */
        long payloadOffset() {
            return offset
                    + (key.getBytes(StandardCharsets.UTF_8).length + EXTENT_ALIGNMENT - 1)
                            / EXTENT_ALIGNMENT
                            * EXTENT_ALIGNMENT;
        }
    }

    private final SegmentMemory memory;

    /** How many slots were ever used. A recovery leaves what it drops as if it had never been, with used ones behind it. */
    private int everUsed;

    SegmentImage(SegmentMemory memory) {
        this.memory = memory;
    }

    /** The authority of the newest whole copy of the state. */
    Authority authority() {
        long newest = newestState();
        return new Authority(NativeMemory.getLong(newest + 8), NativeMemory.getLong(newest + 16));
    }

    /** The wire version that the node keeps as the pool's. */
    int activeWire() {
        return NativeMemory.getInt(newestState() + STATE_ACTIVE_WIRE) & 0xFFFF;
    }

    /** Number of the memory, which another one would not have. */
    long memory() {
        return NativeMemory.getLong(newestState() + STATE_MEMORY);
    }

    /** Whether the latest life over these bytes had the SSD of this number, or there was none yet. */
    boolean believes(int ssd) {
        long newest = newestState();
        return NativeMemory.getInt(newest + STATE_SSD) == ssd || NativeMemory.getLong(newest + STATE_INCARNATION) == 0;
    }

    private long newestState() {
        long first = memory.address() + STATE_OFFSET;
        long second = first + PAGE_BYTES;
        boolean firstIsWhole = isWhole(first, STATE_BYTES - 4, first + STATE_BYTES - 4);
        boolean secondIsWhole = isWhole(second, STATE_BYTES - 4, second + STATE_BYTES - 4);
        if (!firstIsWhole && !secondIsWhole) {
            throw new AssertionError("no copy of the segment's state is whole");
        }
        boolean takeFirst = firstIsWhole
                && (!secondIsWhole
                        || Long.compareUnsigned(NativeMemory.getLong(first), NativeMemory.getLong(second)) > 0);
        return takeFirst ? first : second;
    }

    private static boolean isWhole(long from, long length, long crcAt) {
        return NativeMemory.crc32c(from, length) == NativeMemory.getInt(crcAt);
    }

    /** Every slot that was ever used; null where its record is torn or free. */
    List<Slot> slots() {
        List<Slot> slots = new ArrayList<>();
        for (int number = 0; number < everUsed + UNUSED_MAX; number++) {
            slots.add(isUsed(number) ? slot(recordAt(number), number) : null);
        }
        return slots;
    }

    /** The number of a record that is not whole, or -1: nothing but death in the middle of a store may leave one. */
    int torn() {
        for (int number = 0; number < everUsed + UNUSED_MAX; number++) {
            long at = recordAt(number);
            if (isUsed(number) && !isWhole(at + 4, RECORD_BYTES - 4, at)) {
                return number;
            }
        }
        return -1;
    }

    long recordAt(int number) {
        return memory.address() + DIRECTORY_OFFSET + number * RECORD_BYTES;
    }

    private boolean isUsed(int number) {
        boolean used = NativeMemory.getLong(recordAt(number) + 8) != 0;
        everUsed = used ? Math.max(everUsed, number + 1) : everUsed;
        return used;
    }

    /** The record of a slot as it is now; null when it is free or not whole. */
    Slot slot(int number) {
        return slot(recordAt(number), number);
    }

    private Slot slot(long at, int number) {
        int state = NativeMemory.getInt(at + 4);
        boolean interesting = state == RESERVED || state == COMMITTED;
        if (!interesting || !isWhole(at + 4, RECORD_BYTES - 4, at) || NativeMemory.getInt(at + 68) != number) {
            return null;
        }
        long offset = NativeMemory.getLong(at + 32);
        String key = state == COMMITTED ? key(at) : "";
        return new Slot(
                ExtentRef.MEMORY,
                number,
                state == COMMITTED,
                state == RESERVED,
                NativeMemory.getLong(at + 8),
                id(at),
                offset,
                NativeMemory.getLong(at + 40),
                NativeMemory.getLong(at + 48),
                NativeMemory.getInt(at + 64),
                key);
    }

    private String key(long at) {
        long offset = NativeMemory.getLong(at + 32);
        int length = NativeMemory.getInt(at + 56);
        return new String(NativeMemory.read(memory.address() + offset, length), StandardCharsets.UTF_8);
    }

    /** Whether the first and the last of the sums behind a payload are those of its bytes. */
    boolean sumsFit(Slot slot) {
        long payload = memory.address() + slot.payloadOffset();
        long sums = payload + (slot.payloadLength() + SUM_BYTES - 1) / SUM_BYTES * SUM_BYTES;
        long count = slot.payloadLength() / SUM_BLOCK_BYTES;
        return count == 0 || (isSum(payload, sums, 0) && isSum(payload, sums, count - 1));
    }

    private static boolean isSum(long payload, long sums, long block) {
        return isWhole(payload, (block + 1) * SUM_BLOCK_BYTES, sums + block * SUM_BYTES);
    }

    /** Whether a tombstone here covers this object: its node lets no client read it, wherever it lies. */
    boolean coversWithTombstone(Slot object) {
        for (int number = 0; number < everUsed; number++) {
            long at = recordAt(number);
            if (isUsed(number)
                    && NativeMemory.getInt(at + 4) == TOMBSTONE
                    && !object.id().isNewerThan(id(at))
                    && key(at).equals(object.key())) {
                return true;
            }
        }
        return false;
    }

    private static ObjectId id(long at) {
        return new ObjectId(NativeMemory.getLong(at + 16), NativeMemory.getLong(at + 24));
    }

    /** Committed records only. */
    List<Slot> committed() {
        List<Slot> committed = new ArrayList<>();
        for (Slot slot : slots()) {
            if (slot != null && slot.committed) {
                committed.add(slot);
            }
        }
        return committed;
    }
}
