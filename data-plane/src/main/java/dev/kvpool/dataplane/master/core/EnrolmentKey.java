// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.Key;

/** The key under which the directory of an expected node says that a transient node belongs to the pool. */
final class EnrolmentKey {
    private EnrolmentKey() {}

    static Key of(String nodeId) {
        return NoteKey.ENROLMENT.of(nodeId);
    }

    static boolean isOne(Key key) {
        return NoteKey.ENROLMENT.is(key);
    }

    /** The id of the node that an enrolment's key names. */
    static String nodeId(Key key) {
        return NoteKey.ENROLMENT.what(key);
    }
}
