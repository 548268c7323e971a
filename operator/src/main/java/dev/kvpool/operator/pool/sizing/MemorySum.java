// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.sizing;

import dev.kvpool.operator.pool.naming.ByteAmount;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Memory, part by part, in whole Mi so that people can add it up.
 *
 * @param parts what it consists of
 */
record MemorySum(List<Part> parts) {
    static final MemorySum NOTHING = new MemorySum(List.of());

    private static final long MI = 1L << 20;

    /** One line of the sum. */
    record Part(String what, long bytes) {
        @Override
        public String toString() {
            return what + " " + ByteAmount.exact(bytes);
        }
    }

    MemorySum {
        parts = List.copyOf(parts);
    }

    /** The same with a further part, rounded up. */
    MemorySum plus(String what, long bytes) {
        List<Part> more = new ArrayList<>(parts);
        more.add(new Part(what, Math.ceilDiv(bytes, MI) * MI));
        return new MemorySum(more);
    }

    MemorySum plusIf(boolean wanted, String what, long bytes) {
        return wanted ? plus(what, bytes) : this;
    }

    long bytes() {
        return parts.stream().mapToLong(Part::bytes).sum();
    }

    /** For people: each part, and what they come to. */
    String sentence() {
        return parts.stream().map(Part::toString).collect(Collectors.joining(" + ")) + " = "
                + ByteAmount.exact(bytes());
    }
}
