// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.master.core.slab.SplitTable;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.IntFunction;

/** Shows records of the index as objects to whoever works with them. */
record Views(ObjectRecords objects, ReplicaRecords replicas) {
    /** Null for {@link Slabs#NONE}. */
    StoredObject object(int at) {
        return at == Slabs.NONE ? null : new StoredObject(this, at);
    }

    Replica replica(int at) {
        return new Replica(this, at);
    }

    Iterator<StoredObject> objects(SplitTable.Walk walk) {
        return each(walk, this::object);
    }

    Iterator<Replica> replicas(SplitTable.Walk walk) {
        return each(walk, this::replica);
    }

    private static <T> Iterator<T> each(SplitTable.Walk walk, IntFunction<T> view) {
        return new Iterator<>() {
            private int next = walk.next();

            @Override
            public boolean hasNext() {
                return next != Slabs.NONE;
            }

            @Override
            public T next() {
                if (next == Slabs.NONE) {
                    throw new NoSuchElementException();
                }
                T found = view.apply(next);
                next = walk.next();
                return found;
            }
        };
    }
}
