// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim.nativecore;

import static dev.kvpool.dataplane.sim.nativecore.NativeMemory.INT;
import static dev.kvpool.dataplane.sim.nativecore.NativeMemory.LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The table of a batch and the memory its lines name, which stays readable until the arena is closed. */
public final class OpTable {
    public static final int PUT = 1;
    public static final int GET = 2;
    public static final int EXISTS = 3;
    public static final int REMOVE = 4;
    public static final int REMOVE_ALL = 100;

    /** Memory whose batch is done: whoever still reads or writes it is found out by this. */
    public static final byte SPOILED = 0x7E;

    private static final long LINE_BYTES = 40;

    private final int opCode;
    private final List<MemorySegment> data = new ArrayList<>();
    private final MemorySegment table;

    /** @param memory one for each key: what a put sends, or room for what a get finds; length 0 for the others */
    public OpTable(Arena arena, int opCode, List<String> keys, List<byte[]> memory) {
        this.opCode = opCode;
        table = arena.allocate(LINE_BYTES * keys.size(), Long.BYTES);
        for (int i = 0; i < keys.size(); i++) {
            byte[] key = keys.get(i).getBytes(StandardCharsets.UTF_8);
            MemorySegment room = arena.allocate(Math.max(1, memory.get(i).length), 64);
            MemorySegment.copy(memory.get(i), 0, room, ValueLayout.JAVA_BYTE, 0, memory.get(i).length);
            data.add(room);
            long line = i * LINE_BYTES;
            table.set(LONG, line, arena.allocateFrom(ValueLayout.JAVA_BYTE, key).address());
            table.set(INT, line + 8, key.length);
            table.set(LONG, line + 16, memory.get(i).length == 0 ? 0 : room.address());
            table.set(LONG, line + 24, memory.get(i).length);
        }
    }

    int opCode() {
        return opCode;
    }

    int count() {
        return data.size();
    }

    long address() {
        return table.address();
    }

    public int status(int line) {
        return table.get(INT, line * LINE_BYTES + 12);
    }

    public long resultLength(int line) {
        return table.get(LONG, line * LINE_BYTES + 32);
    }

    /** What a get brought. */
    public byte[] result(int line) {
        return data.get(line)
                .asSlice(0, Math.min(resultLength(line), data.get(line).byteSize()))
                .toArray(ValueLayout.JAVA_BYTE);
    }

    /** The batch is done and the memory is the caller's again. */
    public void spoil() {
        data.forEach(room -> room.fill(SPOILED));
    }

    /** Whether nobody wrote here since {@link #spoil}. */
    public boolean isStillSpoiled() {
        for (MemorySegment room : data) {
            for (long at = 0; at < room.byteSize(); at += 61) {
                if (room.get(ValueLayout.JAVA_BYTE, at) != SPOILED) {
                    return false;
                }
            }
        }
        return true;
    }
}
