// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.lru.SegmentedLru;
import dev.kvpool.dataplane.master.core.slab.Slabs;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/**
 * Objects in an order: a list linked through the objects themselves, so that being in one costs nothing. There is one for
 * each {@link StoredObject.Fate}, and an object is in the one of its own; published ones stand in the order in which they are evicted.
 */
public final class ObjectChain implements Iterable<StoredObject> {
    /** A walk that is made in many parts: objects may come, go and move between two of them. */
    public final class Walk {
        private final boolean onward;
        private final boolean toTheVeryEnd;
        private final boolean missesNone;
        private int next;

        private Walk(int first, boolean onward, boolean toTheVeryEnd, boolean missesNone) {
            this.next = first;
            this.onward = onward;
            this.toTheVeryEnd = toTheVeryEnd;
            this.missesNone = missesNone;
        }

        /** The next object, or null when there is none any more. One that was moved meanwhile may be seen again. */
        public StoredObject next() {
            StoredObject object = views.object(next);
            if (object != null) {
                next = after(next);
            }
            return object;
        }

        /** An eviction, from where this one stands to the last object there is. */
        public Walk evictFromHere() {
            return begin(new Walk(next, true, false, false));
        }

        /** To be called when no more objects are asked for. */
        public void end() {
            if (walks.remove(this) && missesNone) {
                missingNone--;
            }
        }

        private void leave(int object) {
            if (next == object) {
                next = after(object);
            }
        }

        private int after(int object) {
            return onward ? views.objects().after(object) : views.objects().before(object);
        }

        private void follow(int added) {
            if (toTheVeryEnd && next == Slabs.NONE) {
                next = added;
            }
        }
    }

    private final Views views;
    private final SegmentedLru order;
    private final List<Walk> walks = new ArrayList<>();

    /** Walks under way that what comes must not slip past. */
    private int missingNone;

    ObjectChain(Views views) {
        this.views = views;
        this.order = new SegmentedLru(views.objects());
    }

    boolean isEmpty() {
        return order.first() == Slabs.NONE;
    }

    public Walk fromFirst() {
        return begin(new Walk(order.first(), true, false, true));
    }

    /** The same for an eviction, which objects that come meanwhile may slip past. */
    public Walk evictFromFirst() {
        return begin(new Walk(order.first(), true, false, false));
    }

    public Walk fromLast() {
        return begin(new Walk(order.last(), false, false, false));
    }

    /** From the first on, and until it is ended also by whatever is added behind the last. */
    public Walk throughAll() {
        return begin(new Walk(order.first(), true, true, true));
    }

    /** Through what is added behind the last object from now on. */
    public Walk throughWhatComes() {
        return begin(new Walk(Slabs.NONE, true, true, true));
    }

    private Walk begin(Walk walk) {
        walks.add(walk);
        missingNone += walk.missesNone ? 1 : 0;
        return walk;
    }

    /** An object is used: it moves to the end. */
    public void touch(StoredObject object) {
        if (!order.isTouched(object.at())) {
            remove(object.at());
            append(object.at());
        }
    }

    /** How many objects that were used again stay behind all new ones. */
    void setProtectedMax(int objects) {
        order.setProtectedMax(objects);
    }

    /** Adds a new object: where it stands in the order of eviction, or at the end as long as a walk must not miss it. */
    void enter(int object) {
        if (missingNone > 0 || !order.enter(object)) {
            append(object);
        }
    }

    void append(int object) {
        order.append(object);
        for (Walk walk : walks) {
            walk.follow(object);
        }
    }

    void remove(int object) {
        for (Walk walk : walks) {
            walk.leave(object);
        }
        order.remove(object);
    }

    /** From the first on. The object returned last may be removed while iterating. */
    @Override
    public Iterator<StoredObject> iterator() {
        return new Iterator<>() {
            private int next = order.first();

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
                next = views.objects().after(next);
                return object;
            }
        };
    }
}
