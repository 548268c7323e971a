// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.sim.SegmentImage.Slot;
import dev.kvpool.dataplane.sim.nativecore.NativeMemory;
import dev.kvpool.dataplane.sim.nativecore.SegmentMemory;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What the bytes of an SSD say, read past the node by the layout of native/src/ssd/layout.h. */
final class SsdImage {
    private static final long HEADER_BYTES_OFFSET = 12;
    private static final long SEQUENCE_OFFSET = 56;
    private static final long PURGE_OFFSET = 64;
    private static final long SLOTS_OFFSET = 80;
    private static final long NUMBER_OFFSET = 88;
    private static final long BLOCK_BYTES = 4096;
    private static final long TABLE_OFFSET = 2 * BLOCK_BYTES;
    private static final long RECORD_BYTES = 512;
    private static final int COMMITTED = 1;

    /** Slots are taken from the first on, but a death leaves some of them unwritten, up to a table's block and more. */
    private static final int UNUSED_MAX = 32;

    private final SegmentMemory ssd;
    private int everUsed;

    SsdImage(SegmentMemory ssd) {
        this.ssd = ssd;
    }

    /** The number that a life writes down when it believes what is here; 0 while nothing is. */
    int number() {
        return NativeMemory.getInt(header() + NUMBER_OFFSET);
    }

    /** What the header says: objects with a lower id are dead. */
    ObjectId purgeId() {
        long at = header() + PURGE_OFFSET;
        return new ObjectId(NativeMemory.getLong(at), NativeMemory.getLong(at + 8));
    }

    /** The newer of the headers that are whole. */
    private long header() {
        long first = ssd.address();
        long second = first + BLOCK_BYTES;
        boolean takeSecond = isWhole(second)
                && (!isWhole(first)
                        || NativeMemory.getLong(second + SEQUENCE_OFFSET)
                                > NativeMemory.getLong(first + SEQUENCE_OFFSET));
        return takeSecond ? second : first;
    }

    /** It lies in one sector, so that a cut write leaves the old one or the new one. */
    private static boolean isWhole(long header) {
        boolean written = NativeMemory.getLong(header) != 0;
        long crcOffset = NativeMemory.getInt(header + HEADER_BYTES_OFFSET) - 4L;
        if (written && NativeMemory.crc32c(header, crcOffset) != NativeMemory.getInt(header + crcOffset)) {
            throw new AssertionError("a header of an SSD is not what this class takes it for; has its layout changed?");
        }
        return written;
    }

    /** Records of objects that are whole, not of an earlier tier and not purged. */
    List<Slot> committed() {
        List<Slot> committed = new ArrayList<>();
        int tier = number();
        ObjectId purgeId = purgeId();
        int slots = NativeMemory.getInt(header() + SLOTS_OFFSET);
        for (int number = 0; number < Math.min(slots, everUsed + UNUSED_MAX); number++) {
            long at = ssd.address() + TABLE_OFFSET + number * RECORD_BYTES;
            everUsed = NativeMemory.getLong(at + 8) != 0 ? Math.max(everUsed, number + 1) : everUsed;
            Slot slot = slot(at, number, tier);
            if (slot != null && !purgeId.isNewerThan(slot.id())) {
                committed.add(slot);
            }
        }
        return committed;
    }

    private static Slot slot(long at, int number, int tier) {
        boolean ours = NativeMemory.getInt(at + 4) == COMMITTED
                && NativeMemory.getInt(at + 80) == number
                && NativeMemory.getInt(at + 84) == tier
                && NativeMemory.crc32c(at + 4, RECORD_BYTES - 4) == NativeMemory.getInt(at);
        if (!ours) {
            return null;
        }
        return new Slot(
                ExtentRef.SSD,
                number,
                true,
                false,
                NativeMemory.getLong(at + 8),
                new ObjectId(NativeMemory.getLong(at + 16), NativeMemory.getLong(at + 24)),
                NativeMemory.getLong(at + 32),
                NativeMemory.getLong(at + 40),
                NativeMemory.getLong(at + 48),
                NativeMemory.getInt(at + 72),
                new String(NativeMemory.read(at + 88, NativeMemory.getInt(at + 76)), StandardCharsets.UTF_8));
    }
}
