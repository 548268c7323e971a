// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.slab.Slabs;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/** Published objects in the order of their last lease or publish: a linked list through the objects themselves. */
final class Recency implements Iterable<StoredObject> {
    /** A walk that is made in many parts: objects may come, go and move between two of them. */
    final class Walk {
        private final int onward;
        private int next;

        private Walk(int first, int onward) {
            this.next = first;
            this.onward = onward;
        }

        /** The next object, or null when there is none any more. One that was moved meanwhile may be missed or seen again. */
        StoredObject next() {
            StoredObject object = views.object(next);
            if (object != null) {
                next = link(next, onward);
            }
            return object;
        }

        /** To be called when no more objects are asked for. */
        void end() {
            walks.remove(this);
        }

        private void leave(int object) {
            if (next == object) {
                next = link(object, onward);
            }
        }
    }

    private final Views views;
    private final List<Walk> walks = new ArrayList<>();
    private int coldest = Slabs.NONE;
    private int warmest = Slabs.NONE;

    Recency(Views views) {
        this.views = views;
    }

    Walk fromColdest() {
        return begin(coldest, ObjectRecords.WARMER);
    }

    Walk fromWarmest() {
        return begin(warmest, ObjectRecords.COLDER);
    }

    private Walk begin(int first, int onward) {
        Walk walk = new Walk(first, onward);
        walks.add(walk);
        return walk;
    }

    void touch(StoredObject object) {
        if (object.at() != warmest) {
            remove(object.at());
            append(object.at());
        }
    }

    void append(int object) {
        setLink(object, ObjectRecords.COLDER, warmest);
        setLink(object, ObjectRecords.WARMER, Slabs.NONE);
        if (warmest == Slabs.NONE) {
            coldest = object;
        } else {
            setLink(warmest, ObjectRecords.WARMER, object);
        }
        warmest = object;
    }

    void remove(int object) {
        for (Walk walk : walks) {
            walk.leave(object);
        }
        int colder = link(object, ObjectRecords.COLDER);
        int warmer = link(object, ObjectRecords.WARMER);
        if (colder == Slabs.NONE) {
            coldest = warmer;
        } else {
            setLink(colder, ObjectRecords.WARMER, warmer);
        }
        if (warmer == Slabs.NONE) {
            warmest = colder;
        } else {
            setLink(warmer, ObjectRecords.COLDER, colder);
        }
    }

    void clear() {
        coldest = Slabs.NONE;
        warmest = Slabs.NONE;
        walks.forEach(walk -> walk.next = Slabs.NONE);
    }

    /** Coldest first. The object returned last may be removed while iterating. */
    @Override
    public Iterator<StoredObject> iterator() {
        return new Iterator<>() {
            private int next = coldest;

            @Override
            public boolean hasNext() {
                return next != Slabs.NONE;
            }

            @Override
            public StoredObject next() {
                if (next == Slabs.NONE) {
                    throw new NoSuchElementException();
                }
                StoredObject object = views.object(next);
                next = link(next, ObjectRecords.WARMER);
                return object;
            }
        };
    }

    private int link(int object, int field) {
        return views.objects().link(object, field);
    }

    private void setLink(int object, int field, int other) {
        views.objects().setLink(object, field, other);
    }
}
