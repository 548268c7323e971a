// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The table of one batch: lines of {@code kv_op}, filled through one direct buffer so that a batch crosses the border
 * once. Keys and values are copied into memory of the arena, which must outlive the batch.
 */
final class OpTable {
    private static final int LINE_BYTES = Math.toIntExact(Layouts.OP.byteSize());
    private static final int KEY = offset("key");
    private static final int KEY_LENGTH = offset("key_length");
    private static final int STATUS = offset("status");
    private static final int DATA = offset("data");
    private static final int LENGTH = offset("length");
    private static final int RESULT_LENGTH = offset("result_length");

    private final Arena arena;
    private final MemorySegment memory;
    private final ByteBuffer lines;
    private final MemorySegment[] data;

    OpTable(Arena arena, List<String> keys) {
        this.arena = arena;
        int count = keys.size();
        memory = arena.allocate((long) count * LINE_BYTES, Long.BYTES);
        lines = memory.asByteBuffer().order(ByteOrder.nativeOrder());
        data = new MemorySegment[count];
        for (int i = 0; i < count; i++) {
            byte[] key = keys.get(i).getBytes(StandardCharsets.UTF_8);
            lines.putLong(line(i) + KEY, copy(key).address());
            lines.putInt(line(i) + KEY_LENGTH, key.length);
        }
    }

    long address() {
        return memory.address();
    }

    int count() {
        return data.length;
    }

    /** The value to put under the key of this line. */
    void source(int index, byte[] value) {
        attach(index, copy(value), value.length);
    }

    /** Room for the value of this line's key. */
    void destination(int index, long bytes) {
        attach(index, arena.allocate(Math.max(bytes, 1)), bytes);
    }

    int statusCode(int index) {
        return lines.getInt(line(index) + STATUS);
    }

    long resultLength(int index) {
        return lines.getLong(line(index) + RESULT_LENGTH);
    }

    /** The bytes that arrived in this line's destination. */
    byte[] result(int index) {
        return data[index].asSlice(0, resultLength(index)).toArray(ValueLayout.JAVA_BYTE);
    }

    private void attach(int index, MemorySegment segment, long bytes) {
        data[index] = segment;
        lines.putLong(line(index) + DATA, segment.address());
        lines.putLong(line(index) + LENGTH, bytes);
    }

    private MemorySegment copy(byte[] bytes) {
        MemorySegment segment = arena.allocate(Math.max(bytes.length, 1));
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, segment, 0, bytes.length);
        return segment;
    }

    private static int line(int index) {
        return index * LINE_BYTES;
    }

    private static int offset(String field) {
        return Math.toIntExact(Layouts.OP.byteOffset(PathElement.groupElement(field)));
    }
}
