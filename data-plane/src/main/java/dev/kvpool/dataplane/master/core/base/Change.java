// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.List;

/**
 * A change of what a serving leader would tell readers. Applied in order to a map of copies by object, each is a plain set or delete: applying
 * one again, or to an object that is not in the map, does no harm.
 */
public sealed interface Change {
    /** Where one copy lies. */
    record Copy(String node, boolean inMemory) {}

    /** Why an object, or one copy of it, is gone. */
    enum Cause {
        EVICTED,
        REMOVED,
        /** Another object has its key. */
        REPLACED,
        /** No node has it any more, or this node has not, and the leader did not tell it to free it. */
        LOST,
        /** The other tier of the same node has it. */
        MOVED,
        /** One copy more than is wanted, or one of a node that is drained; others stay. */
        TRIMMED
    }

    /** An object has its key from now on, and lies there, and nowhere else. */
    record Stored(Key key, ObjectId id, long bytes, long group, List<Copy> copies) implements Change {
        public Stored {
            copies = List.copyOf(copies);
        }
    }

    /** There is one more copy. */
    record Copied(Key key, ObjectId id, Copy copy) implements Change {}

    /** One copy is gone; the object stays, unless {@link Removed} follows. */
    record Dropped(Key key, ObjectId id, Copy copy, Cause cause) implements Change {}

    /** An object does not have its key any more. */
    record Removed(Key key, ObjectId id, Cause cause) implements Change {}

    /** Every object older than this one is removed. */
    record Purged(ObjectId below) implements Change {}

    /** Whether readers are sent to a node; its copies stay in the map either way. */
    record Node(String id, boolean usable) implements Change {}

    /** This leader serves no more: what holds now, its successor says. */
    record Ended() implements Change {}
}
