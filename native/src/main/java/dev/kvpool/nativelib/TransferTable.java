// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The table of one batch: lines of {@code kv_transfer}, filled through one direct buffer so that a batch crosses the
 * border once. It lives in the arena, which must outlive the batch.
 */
final class TransferTable {
    private static final int LINE_BYTES = Math.toIntExact(Layouts.TRANSFER.byteSize());
    private static final int PEER = offset("peer");
    private static final int LOCAL = offset("local");
    private static final int REMOTE = offset("remote");
    private static final int LENGTH = offset("length");
    private static final int STATUS = offset("status");

    private final MemorySegment memory;
    private final ByteBuffer lines;
    private final int count;

    TransferTable(Arena arena, List<Transfer> transfers) {
        count = transfers.size();
        memory = arena.allocate(Math.max(1L, (long) count * LINE_BYTES), Long.BYTES);
        lines = memory.asByteBuffer().order(ByteOrder.nativeOrder());
        Map<String, MemorySegment> peers = new HashMap<>();
        for (int i = 0; i < count; i++) {
            Transfer transfer = transfers.get(i);
            MemorySegment peer = peers.computeIfAbsent(transfer.peer(), arena::allocateFrom);
            lines.putLong(line(i) + PEER, peer.address());
            lines.putLong(line(i) + LOCAL, transfer.local().address());
            lines.putLong(line(i) + REMOTE, transfer.remote());
            lines.putLong(line(i) + LENGTH, transfer.local().byteSize());
        }
    }

    long address() {
        return memory.address();
    }

    int count() {
        return count;
    }

    int statusCode(int index) {
        return lines.getInt(line(index) + STATUS);
    }

    private static int line(int index) {
        return index * LINE_BYTES;
    }

    private static int offset(String field) {
        return Math.toIntExact(Layouts.TRANSFER.byteOffset(PathElement.groupElement(field)));
    }
}
