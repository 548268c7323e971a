// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.sizing;

import dev.kvpool.operator.pool.naming.ByteAmount;
import io.fabric8.kubernetes.api.model.Quantity;

/**
 * Memory of a master: its heap is the index of all objects of the pool.
 *
 * @param objects how many
 * @param replicas of each
 */
record MasterMemory(long objects, int replicas) {
    /** 155 to 158 bytes measured with keys of 64 bytes, so that keys may have 100. */
    private static final long OBJECT_BYTES = 200;

    /** 39 bytes measured. */
    private static final long REPLICA_BYTES = 40;

    /** Of a heap without any object. */
    private static final long REST_OF_HEAP_BYTES = 128L << 20;

    /** Of the memory limit; the launcher of masters says so to Java (MaxRAMPercentage). */
    static final int HEAP_PERCENT = 60;

    /** What the parts of a sum gain by being rounded up. */
    private static final long ROUNDING_BYTES = 3L << 20;

    private static final long LIMIT_BYTES_MIN = 1L << 30;
    private static final long REQUEST_BYTES_MIN = 512L << 20;
    private static final long LIMIT_STEP_BYTES = 256L << 20;

    private long indexBytes() {
        return objects * indexBytesOfOne();
    }

    private long indexBytesOfOne() {
        return OBJECT_BYTES + (replicas - 1) * REPLICA_BYTES;
    }

    /** 10 million objects were measured in a heap of twice their index; half of it free is what the collector needs. */
    MemorySum sum() {
        MemorySum heap = MemorySum.NOTHING
                .plusIf(objects > 0, "index of %d objects".formatted(objects), indexBytes())
                .plusIf(objects > 0, "half of that for the collector", indexBytes() / 2)
                .plus("rest of the heap", REST_OF_HEAP_BYTES);
        return heap.plus("outside the heap", heap.bytes() * (100 - HEAP_PERCENT) / HEAP_PERCENT);
    }

    /** What the operator gives a master: in coarse steps, since another limit means another pod. */
    Quantity limit() {
        long steps = Math.ceilDiv(sum().bytes(), LIMIT_STEP_BYTES);
        return ByteAmount.exact(Math.max(LIMIT_BYTES_MIN, steps * LIMIT_STEP_BYTES));
    }

    boolean isLeast() {
        return ByteAmount.bytes(limit()) == LIMIT_BYTES_MIN;
    }

    /** A large index is memory in use, not a peak. */
    Quantity request() {
        return isLeast() ? ByteAmount.exact(REQUEST_BYTES_MIN) : limit();
    }

    /** How many objects have room below a limit; a spec that expects as many is not refused. */
    long room(Quantity limit) {
        long heap = ByteAmount.bytes(limit) / 100 * HEAP_PERCENT;
        return Math.max(0, (heap - REST_OF_HEAP_BYTES - ROUNDING_BYTES) / (indexBytesOfOne() * 3 / 2));
    }
}
