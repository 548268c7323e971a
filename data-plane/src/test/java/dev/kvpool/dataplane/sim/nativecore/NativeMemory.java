// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim.nativecore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/** Reading and writing memory by address, as the native cores hand it out. */
public final class NativeMemory {
    /** All of the address space: every access names its own bounds. */
    @SuppressWarnings("restricted") // addresses of the cores' own memory
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    private NativeMemory() {}

    public static int getInt(long address) {
        return ALL.get(INT, address);
    }

    public static long getLong(long address) {
        return ALL.get(LONG, address);
    }

    public static byte[] read(long address, int length) {
        byte[] bytes = new byte[length];
        MemorySegment.copy(ALL, ValueLayout.JAVA_BYTE, address, bytes, 0, length);
        return bytes;
    }

    public static void write(long address, byte[] bytes) {
        MemorySegment.copy(bytes, 0, ALL, ValueLayout.JAVA_BYTE, address, bytes.length);
    }

    public static void fill(long address, long length, byte value) {
        ALL.asSlice(address, length).fill(value);
    }

    public static int crc32c(long address, long length) {
        CRC32C crc = new CRC32C();
        crc.update(ALL.asSlice(address, length).asByteBuffer());
        return (int) crc.getValue();
    }

    /** The NUL-terminated text at an address. */
    public static String text(long address) {
        return address == 0 ? "" : ALL.getString(address);
    }

    /** A NUL-terminated text. */
    static MemorySegment text(Arena arena, String text) {
        return arena.allocateFrom(text, StandardCharsets.UTF_8);
    }
}
