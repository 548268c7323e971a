// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.membership;

import dev.kvpool.dataplane.wire.message.Key;

/** The number of a group's name, which records of objects hold: FNV-1a 64, as {@code kv_group_id} of the native library has it. */
final class GroupNumber {
    private GroupNumber() {}

    static long of(Key name) {
        long hash = Fnv1a.of(name);
        return hash == 0 ? 1 : hash;
    }
}
