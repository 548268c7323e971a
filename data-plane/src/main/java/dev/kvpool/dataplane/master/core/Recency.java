// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import java.util.Iterator;
import java.util.NoSuchElementException;

/** Published objects in the order of their last lease or publish: a linked list through the objects themselves. */
final class Recency implements Iterable<StoredObject> {
    private StoredObject coldest;
    private StoredObject warmest;

    void append(StoredObject object) {
        object.colder = warmest;
        object.warmer = null;
        if (warmest == null) {
            coldest = object;
        } else {
            warmest.warmer = object;
        }
        warmest = object;
    }

    void remove(StoredObject object) {
        if (object.colder == null) {
            coldest = object.warmer;
        } else {
            object.colder.warmer = object.warmer;
        }
        if (object.warmer == null) {
            warmest = object.colder;
        } else {
            object.warmer.colder = object.colder;
        }
        object.colder = null;
        object.warmer = null;
    }

    void touch(StoredObject object) {
        if (object != warmest) {
            remove(object);
            append(object);
        }
    }

    void clear() {
        StoredObject object = coldest;
        while (object != null) {
            StoredObject next = object.warmer;
            object.colder = null;
            object.warmer = null;
            object = next;
        }
        coldest = null;
        warmest = null;
    }

    /** Coldest first. The object returned last may be removed while iterating. */
    @Override
    public Iterator<StoredObject> iterator() {
        return new Iterator<>() {
            private StoredObject next = coldest;

            @Override
            public boolean hasNext() {
                return next != null;
            }

            @Override
            public StoredObject next() {
                if (next == null) {
                    throw new NoSuchElementException();
                }
                StoredObject object = next;
                next = object.warmer;
                return object;
            }
        };
    }
}
