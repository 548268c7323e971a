// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;

/** Something one application tells another with a transfer. */
public final class Notification {
    private final String name;
    private final byte[] message;

    /**
     * @param name at most {@link NativeEngine#NOTIFY_NAME_BYTES_MAX} bytes of UTF-8
     * @param message at most {@link NativeEngine#NOTIFY_BYTES_MAX} bytes of anything; copied
     */
    public Notification(String name, byte[] message) {
        this.name = Arguments.text("name of a notification", Objects.requireNonNull(name, "name"));
        this.message = message.clone();
    }

    public String name() {
        return name;
    }

    /** A copy. */
    public byte[] message() {
        return message.clone();
    }

    static Notification of(String name, MemorySegment message) {
        return new Notification(name, message.toArray(ValueLayout.JAVA_BYTE));
    }

    void writeTo(Arena arena, Struct options) {
        MemorySegment bytes = arena.allocate(Math.max(message.length, 1));
        MemorySegment.copy(message, 0, bytes, ValueLayout.JAVA_BYTE, 0, message.length);
        options.text("notify_name", name).u64("notify_message", bytes.address()).u32("notify_length", message.length);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Notification that && name.equals(that.name) && Arrays.equals(message, that.message);
    }

    @Override
    public int hashCode() {
        return 31 * name.hashCode() + Arrays.hashCode(message);
    }

    @Override
    public String toString() {
        return "Notification[name=" + name + ", message=" + message.length + " bytes]";
    }
}
