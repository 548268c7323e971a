// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.Key;

/**
 * The key under which the directory of an expected node says that a transient node belongs to the pool. It is written like a
 * tombstone, so nodes need to know nothing of it. Clients may not use such keys.
 */
final class EnrolmentKey {
    private static final String PREFIX = "\u0001kvpool transient node ";
    private static final byte[] PREFIX_BYTES = Key.of(PREFIX).bytes();

    private EnrolmentKey() {}

    static Key of(String nodeId) {
        return Key.of(PREFIX + nodeId);
    }

    static boolean isOne(Key key) {
        byte[] bytes = key.bytes();
        if (bytes.length < PREFIX_BYTES.length) {
            return false;
        }
        for (int i = 0; i < PREFIX_BYTES.length; i++) {
            if (bytes[i] != PREFIX_BYTES[i]) {
                return false;
            }
        }
        return true;
    }

    /** The id of the node that an enrolment's key names. */
    static String nodeId(Key key) {
        return key.toString().substring(PREFIX.length());
    }
}
