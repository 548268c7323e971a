// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.slab.Slabs;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/**
 * Objects in an order: a list linked through the objects themselves, so that being in one costs nothing. There is one for
 * each {@link StoredObject.Fate}, and an object is in the one of its own; published ones stand in the order of their use.
 */
public final class ObjectChain implements Iterable<StoredObject> {
    /** A walk that is made in many parts: objects may come, go and move between two of them. */
    public final class Walk {
        private final int onward;
        private final boolean toTheVeryEnd;
        private int next;

        private Walk(int first, int onward, boolean toTheVeryEnd) {
            this.next = first;
            this.onward = onward;
            this.toTheVeryEnd = toTheVeryEnd;
        }

        /** The next object, or null when there is none any more. One that was moved meanwhile may be missed or seen again. */
        public StoredObject next() {
            StoredObject object = views.object(next);
            if (object != null) {
                next = link(next, onward);
            }
            return object;
        }

        /** Another walk, from where this one stands to the last object there is. */
        public Walk fromHere() {
            return begin(next, ObjectRecords.AFTER, false);
        }

        /** To be called when no more objects are asked for. */
        public void end() {
            walks.remove(this);
        }

        private void leave(int object) {
            if (next == object) {
                next = link(object, onward);
            }
        }

        private void follow(int added) {
            if (toTheVeryEnd && next == Slabs.NONE) {
                next = added;
            }
        }
    }

    private final Views views;
    private final List<Walk> walks = new ArrayList<>();
    private int first = Slabs.NONE;
    private int last = Slabs.NONE;

    ObjectChain(Views views) {
        this.views = views;
    }

    boolean isEmpty() {
        return first == Slabs.NONE;
    }

    public Walk fromFirst() {
        return begin(first, ObjectRecords.AFTER, false);
    }

    public Walk fromLast() {
        return begin(last, ObjectRecords.BEFORE, false);
    }

    /** From the first on, and until it is ended also by whatever is added behind the last. */
    public Walk throughAll() {
        return begin(first, ObjectRecords.AFTER, true);
    }

    /** Through what is added behind the last object from now on. */
    public Walk throughWhatComes() {
        return begin(Slabs.NONE, ObjectRecords.AFTER, true);
    }

    private Walk begin(int from, int onward, boolean toTheVeryEnd) {
        Walk walk = new Walk(from, onward, toTheVeryEnd);
        walks.add(walk);
        return walk;
    }

    /** Moves an object to the end. */
    public void touch(StoredObject object) {
        if (object.at() != last) {
            remove(object.at());
            append(object.at());
        }
    }

    void append(int object) {
        setLink(object, ObjectRecords.BEFORE, last);
        setLink(object, ObjectRecords.AFTER, Slabs.NONE);
        if (last == Slabs.NONE) {
            first = object;
        } else {
            setLink(last, ObjectRecords.AFTER, object);
        }
        last = object;
        for (Walk walk : walks) {
            walk.follow(object);
        }
    }

    void remove(int object) {
        for (Walk walk : walks) {
            walk.leave(object);
        }
        int before = link(object, ObjectRecords.BEFORE);
        int after = link(object, ObjectRecords.AFTER);
        if (before == Slabs.NONE) {
            first = after;
        } else {
            setLink(before, ObjectRecords.AFTER, after);
        }
        if (after == Slabs.NONE) {
            last = before;
        } else {
            setLink(after, ObjectRecords.BEFORE, before);
        }
    }

    /** From the first on. The object returned last may be removed while iterating. */
    @Override
    public Iterator<StoredObject> iterator() {
        return new Iterator<>() {
            private int next = first;

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
                next = link(next, ObjectRecords.AFTER);
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
