// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.membership;

import dev.kvpool.dataplane.wire.message.Key;

/** The hash FNV-1a, of 64 bits. */
final class Fnv1a {
    private static final long BASIS = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    private Fnv1a() {}

    static long of(Key key) {
        long hash = BASIS;
        for (byte each : key.bytes()) {
            hash = (hash ^ (each & 0xFF)) * PRIME;
        }
        return hash;
    }
}
