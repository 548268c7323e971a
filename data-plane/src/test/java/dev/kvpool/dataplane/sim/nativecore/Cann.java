// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim.nativecore;

import static dev.kvpool.dataplane.sim.nativecore.NativeMemory.INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Settings of the Ascend transport.
 *
 * @param connectsByItself CANN makes channels and ends them after a failure
 * @param cardRepeatsMs for how long the card may still move bytes of a transfer that timed out
 * @param channelsMax of a node
 * @param callsMax so many threads of a node wait for CANN
 */
public record Cann(
        boolean connectsByItself, int connectMs, int transferMs, int cardRepeatsMs, int channelsMax, int callsMax) {
    private static final int BYTES = 24;

    /** Within which a transfer ends, with the channel that it may need first. */
    public int patienceMs() {
        return connectMs + transferMs;
    }

    MemorySegment in(Arena arena) {
        MemorySegment cann = arena.allocate(BYTES, Integer.BYTES);
        cann.set(INT, 0, connectsByItself ? 1 : 0);
        cann.set(INT, 4, connectMs);
        cann.set(INT, 8, transferMs);
        cann.set(INT, 12, cardRepeatsMs);
        cann.set(INT, 16, channelsMax);
        cann.set(INT, 20, callsMax);
        return cann;
    }
}
