// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim.nativecore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Native memory that the body of a frame is copied to while a core reads it; one for all cores of a thread. */
final class FrameScratch {
    private static final int FRAME_BYTES_MAX = 1 << 20;
    private static final ThreadLocal<MemorySegment> MEMORY =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(FRAME_BYTES_MAX));

    private FrameScratch() {}

    /** Where the body lies until the next call. */
    static long put(byte[] body) {
        MemorySegment memory = MEMORY.get();
        MemorySegment.copy(body, 0, memory, ValueLayout.JAVA_BYTE, 0, body.length);
        return memory.address();
    }
}
