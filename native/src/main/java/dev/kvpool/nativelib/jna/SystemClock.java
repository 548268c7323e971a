// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib.jna;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;

/** Linux's clock that goes on while the machine is suspended, which {@link System#nanoTime} does not. */
public final class SystemClock {
    private static final int CLOCK_BOOTTIME = 7;
    private static final long TIMESPEC_BYTES = 16;

    /** One for each thread that asks, since the call writes there. */
    private static final ThreadLocal<Memory> TIMESPEC = ThreadLocal.withInitial(() -> new Memory(TIMESPEC_BYTES));

    static {
        Native.register(SystemClock.class, NativeLibrary.getInstance("c"));
    }

    private SystemClock() {}

    /** Nanoseconds since the machine was booted. */
    public static long sinceBootNs() {
        Memory timespec = TIMESPEC.get();
        if (clock_gettime(CLOCK_BOOTTIME, timespec) != 0) {
            throw new IllegalStateException("this system has no CLOCK_BOOTTIME");
        }
        return timespec.getLong(0) * 1_000_000_000L + timespec.getLong(Long.BYTES);
    }

    private static native int clock_gettime(int clock, Pointer timespec);
}
