// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.master.core.slab.SplitTable;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;

/** Shows records of the index as objects to those that work with them, and knows which one was shown last. */
final class Views {
    private final ObjectRecords objects;
    private final ReplicaRecords replicas;
    private int latest = Slabs.NONE;

    Views(ObjectRecords objects, ReplicaRecords replicas) {
        this.objects = objects;
        this.replicas = replicas;
    }

    ObjectRecords objects() {
        return objects;
    }

    ReplicaRecords replicas() {
        return replicas;
    }

    /** Null for {@link Slabs#NONE}. */
    StoredObject object(int at) {
        if (at == Slabs.NONE) {
            return null;
        }
        latest = at;
        return new StoredObject(this, at);
    }

    /** The object that was shown last, since it was forgotten which; null when it has left the index. */
    StoredObject latest() {
        return latest != Slabs.NONE && objects.isLive(latest) ? new StoredObject(this, latest) : null;
    }

    void forgetLatest() {
        latest = Slabs.NONE;
    }

    Replica replica(int at) {
        return new Replica(this, at);
    }

    Iterator<StoredObject> objects(SplitTable.Walk walk) {
        return each(walk.next(), _ -> walk.next(), this::object);
    }

    Iterator<Replica> replicas(SplitTable.Walk walk) {
        return each(walk.next(), _ -> walk.next(), this::replica);
    }

    /** What an index stands for each time, from the first one on; what was returned last may be removed meanwhile. */
    static <T> Iterator<T> each(int first, IntUnaryOperator following, IntFunction<T> view) {
        return new Iterator<>() {
            private int next = first;

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
                next = following.applyAsInt(next);
                return found;
            }
        };
    }
}
