// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * One line of a batch of transfers.
 *
 * @param peer {@code HOST:PORT} of the other engine, IPv6 hosts in brackets
 * @param local native memory to write from or read to, all of it; alive until the batch is done
 * @param remote address in the peer's process, which the peer checks against what is registered there
 */
public record Transfer(String peer, MemorySegment local, long remote) {
    public Transfer {
        Objects.requireNonNull(peer, "peer");
        Objects.requireNonNull(local, "local");
        Arguments.text("peer", peer);
        nativeAddress(local);
    }

    /** @throws KvException KV_INVALID_ARGUMENT for memory of the heap, which the collector moves */
    static long nativeAddress(MemorySegment memory) {
        if (!memory.isNative()) {
            throw Arguments.invalid("memory to transfer lies on the heap; allocate it from an Arena");
        }
        return memory.address();
    }
}
