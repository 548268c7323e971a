// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.List;
import java.util.Optional;

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

    /**
     * Whether readers are sent to a node; its copies stay in the map either way.
     *
     * @param tenant whose objects alone it can hold; empty: all tenants'
     */
    record Node(String id, boolean usable, Optional<Tenant> tenant) implements Change {
        /** One that can hold objects of all tenants. */
        public Node(String id, boolean usable) {
            this(id, usable, Optional.empty());
        }
    }

    /** This leader serves no more: what holds now, its successor says. */
    record Ended() implements Change {}

    /** The tenant whose readers alone it is for; empty: all readers. */
    default Optional<Tenant> tenant() {
        return switch (this) {
            case Stored it -> Optional.of(Tenant.of(it.key()));
            case Copied it -> Optional.of(Tenant.of(it.key()));
            case Dropped it -> Optional.of(Tenant.of(it.key()));
            case Removed it -> Optional.of(Tenant.of(it.key()));
            case Node it -> it.tenant();
            case Purged _, Ended _ -> Optional.empty();
        };
    }
}
