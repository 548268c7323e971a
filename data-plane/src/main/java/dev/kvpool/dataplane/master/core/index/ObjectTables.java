// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.slab.KeyHash;
import dev.kvpool.dataplane.master.core.slab.Mix;
import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.master.core.slab.SplitTable;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;

/** Finds objects by id, and published ones by key. */
final class ObjectTables {
    final ById byId;
    final ByKey byKey;

    ObjectTables(Slabs slabs, ObjectRecords objects, KeyHash keyHash) {
        byId = new ById(slabs, objects, keyHash);
        byKey = new ByKey(slabs, objects, keyHash);
    }

    static final class ById extends SplitTable {
        private final ObjectRecords objects;

        /** So that no engine can choose ids that share a hash. */
        private final long secret;

        private ById(Slabs slabs, ObjectRecords objects, KeyHash keyHash) {
            super(slabs, ObjectRecords.NEXT_BY_ID, 2);
            this.objects = objects;
            this.secret = keyHash.of(new byte[0]);
        }

        @Override
        protected int hashOf(int object) {
            return hash(objects.epoch(object), objects.counter(object));
        }

        /** Objects that were put together, and so are sent and used together, share cache lines of the table. */
        private int hash(long epoch, long counter) {
            return Mix.of((epoch << Integer.SIZE | counter >>> Integer.SIZE) ^ secret) + (int) counter;
        }

        /** {@link Slabs#NONE} when there is none. */
        int find(StoredObject.Name name) {
            int object = firstOf(name.id());
            while (object != Slabs.NONE && !objects.isOf(object, name.tenant())) {
                object = nextOf(object, name.id());
            }
            return object;
        }

        /** The object with this id and of the tenant of this key, or {@link Slabs#NONE}. */
        int find(ObjectId id, Key key) {
            int object = firstOf(id);
            while (object != Slabs.NONE && !objects.isOfTenantOf(object, key)) {
                object = nextOf(object, id);
            }
            return object;
        }

        /** The first of the objects with this id, each of another tenant, or {@link Slabs#NONE}. */
        private int firstOf(ObjectId id) {
            return from(first(hash(id.epoch(), id.counter())), id);
        }

        /** The one after, or {@link Slabs#NONE}. */
        private int nextOf(int object, ObjectId id) {
            return from(next(object), id);
        }

        private int from(int first, ObjectId id) {
            int object = first;
            while (object != Slabs.NONE && !objects.hasId(object, id)) {
                object = next(object);
            }
            return object;
        }
    }

    static final class ByKey extends SplitTable {
        private final ObjectRecords objects;
        private final KeyHash keyHash;

        private ByKey(Slabs slabs, ObjectRecords objects, KeyHash keyHash) {
            super(slabs, ObjectRecords.NEXT_BY_KEY, 1);
            this.objects = objects;
            this.keyHash = keyHash;
        }

        @Override
        protected int hashOf(int object) {
            return objects.keyHash(object);
        }

        /** {@link Slabs#NONE} when there is none. */
        int find(Key key) {
            int object = first(keyHash.of(key.bytes()));
            while (object != Slabs.NONE && !objects.hasKey(object, key)) {
                object = next(object);
            }
            return object;
        }

        /** The object here under the key of another one, or {@link Slabs#NONE}. */
        int findKeyOf(int other) {
            int object = first(hashOf(other));
            while (object != Slabs.NONE && !objects.haveEqualKeys(object, other)) {
                object = next(object);
            }
            return object;
        }
    }
}
