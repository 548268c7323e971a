// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.membership;

import dev.kvpool.dataplane.wire.message.Key;

/** The number of a group's name, which records of objects hold: FNV-1a 64, as {@code kv_group_id} of the native library has it. */
final class GroupNumber {
    private static final long BASIS = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    private GroupNumber() {}

    static long of(Key name) {
        long hash = BASIS;
        for (byte each : name.bytes()) {
            hash = (hash ^ (each & 0xFF)) * PRIME;
        }
        return hash == 0 ? 1 : hash;
    }
}
