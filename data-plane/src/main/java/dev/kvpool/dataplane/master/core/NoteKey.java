// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.Key;

/**
 * Keys under which the directories of the expected nodes keep notes of the leaders, written like tombstones, so that nodes need
 * to know nothing of them and whoever leads next finds them. Clients may not use such keys.
 */
enum NoteKey {
    /** A transient node belongs to the pool: {@link EnrolmentKey}. */
    ENROLMENT("\u0001kvpool transient node "),
    /** A node is being emptied: {@link DrainNote}. */
    DRAIN("\u0001kvpool drain ");

    /** What every such key begins with, and hardly any other. */
    private static final byte MARK = 1;

    private final String prefix;

    NoteKey(String prefix) {
        this.prefix = prefix;
    }

    static boolean isAny(Key key) {
        return ENROLMENT.is(key) || DRAIN.is(key);
    }

    Key of(String what) {
        return Key.of(prefix + what);
    }

    boolean is(Key key) {
        byte[] bytes = key.bytes();
        return bytes.length > 0 && bytes[0] == MARK && key.toString().startsWith(prefix);
    }

    /** What a key of this kind says. */
    String what(Key key) {
        return key.toString().substring(prefix.length());
    }
}
