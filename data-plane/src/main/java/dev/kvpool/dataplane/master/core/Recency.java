// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/** Published objects in the order of their last lease or publish: a linked list through the objects themselves. */
final class Recency implements Iterable<StoredObject> {
    /** A walk that is made in many parts: objects may come, go and move between two of them. */
    final class Walk {
        private final boolean warmer;
        private StoredObject next;

        private Walk(boolean warmer) {
            this.warmer = warmer;
            this.next = warmer ? coldest : warmest;
        }

        /** The next object, or null when there is none any more. One that was moved meanwhile may be missed or seen again. */
        StoredObject next() {
            StoredObject object = next;
            if (object != null) {
                next = after(object);
            }
            return object;
        }

        /** To be called when no more objects are asked for. */
        void end() {
            walks.remove(this);
        }

        private StoredObject after(StoredObject object) {
            return warmer ? object.warmer : object.colder;
        }

        private void leave(StoredObject object) {
            if (next == object) {
                next = after(object);
            }
        }
    }

    private final List<Walk> walks = new ArrayList<>();
    private StoredObject coldest;
    private StoredObject warmest;

    Walk fromColdest() {
        return begin(true);
    }

    Walk fromWarmest() {
        return begin(false);
    }

    private Walk begin(boolean warmer) {
        Walk walk = new Walk(warmer);
        walks.add(walk);
        return walk;
    }

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
        for (Walk walk : walks) {
            walk.leave(object);
        }
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
        walks.forEach(walk -> walk.next = null);
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
