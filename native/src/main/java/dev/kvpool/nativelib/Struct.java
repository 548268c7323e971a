// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.HashMap;
import java.util.Map;

/** One zeroed struct of the C ABI in memory of an arena, with its fields by name. For calls that are not hot. */
final class Struct {
    private static final String STRUCT_SIZE = "struct_size";

    private final Arena arena;
    private final StructLayout layout;
    private final MemorySegment memory;

    /** A struct whose struct_size says how large this side knows it. */
    Struct(Arena arena, StructLayout layout) {
        this.arena = arena;
        this.layout = layout;
        this.memory = arena.allocate(layout);
        u32(STRUCT_SIZE, Math.toIntExact(layout.byteSize()));
    }

    long address() {
        return memory.address();
    }

    Struct u32(String field, int value) {
        memory.set(JAVA_INT, offset(field), value);
        return this;
    }

    Struct u64(String field, long value) {
        memory.set(JAVA_LONG, offset(field), value);
        return this;
    }

    /** Points the field to a NUL-terminated copy of the text; null stays NULL, which means the default. */
    Struct text(String field, String value) {
        return u64(field, value == null ? 0 : arena.allocateFrom(value).address());
    }

    int u32(String field) {
        return memory.get(JAVA_INT, offset(field));
    }

    long u64(String field) {
        return memory.get(JAVA_LONG, offset(field));
    }

    /** All fields as they are now; those of 32 bits are unsigned. */
    Map<String, Long> values() {
        Map<String, Long> values = new HashMap<>();
        for (MemoryLayout member : layout.memberLayouts()) {
            String field = member.name().orElseThrow();
            values.put(field, member.byteSize() == Integer.BYTES ? Integer.toUnsignedLong(u32(field)) : u64(field));
        }
        return values;
    }

    private long offset(String field) {
        return layout.byteOffset(PathElement.groupElement(field));
    }
}
