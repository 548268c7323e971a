// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.lru.Links;
import dev.kvpool.dataplane.master.core.lru.ReusePolicy;
import dev.kvpool.dataplane.master.core.lru.UseOrder;
import dev.kvpool.dataplane.master.core.slab.Slabs;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Objects in an order: a list linked through the objects themselves, so that being in one costs nothing. There is one for
 * each {@link StoredObject.Fate}, and an object is in the one of its own; published ones stand by how often and how lately they were used.
 */
public final class ObjectChain implements Iterable<StoredObject> {
    /** A walk that is made in many parts: objects may come, go and move between two of them. */
    public abstract class Walk {
        /** The next object, or null when there is none any more. One that was moved meanwhile may be seen again. */
        public abstract StoredObject next();

        /** To be called when no more objects are asked for. */
        public void end() {
            walks.remove(this);
        }

        /** An object is about to leave its place. */
        abstract void leave(int object);

        /** An object was added behind all others. */
        void follow(int added) {}

        /** An object came that was put. */
        void enter(int object) {}
    }

    /** Through the list as it stands, or back. */
    public final class StraightWalk extends Walk {
        private final boolean onward;
        private final boolean toTheVeryEnd;
        private int next;

        private StraightWalk(int first, boolean onward, boolean toTheVeryEnd) {
            this.next = first;
            this.onward = onward;
            this.toTheVeryEnd = toTheVeryEnd;
        }

        @Override
        public StoredObject next() {
            StoredObject object = views.object(next);
            if (object != null) {
                next = after(next);
            }
            return object;
        }

        /** An eviction, from where this one stands to the last object there is. */
        public Walk evictFromHere() {
            return begin(new StraightWalk(next, true, false));
        }

        @Override
        public void end() {
            super.end();
            whatComes = whatComes == this ? null : whatComes;
        }

        @Override
        void leave(int object) {
            if (next == object) {
                next = after(object);
            }
        }

        private int after(int object) {
            return onward ? views.objects().after(object) : views.objects().before(object);
        }

        @Override
        void follow(int added) {
            if (toTheVeryEnd && next == Slabs.NONE) {
                next = added;
            }
        }
    }

    /** An eviction: through all parts of the order at once, each time with the object that is least likely to be used again. */
    private final class EvictionWalk extends Walk {
        private final ReusePolicy policy;
        private final int[] candidates = order.firsts();

        private EvictionWalk(ReusePolicy policy) {
            this.policy = policy;
        }

        @Override
        public StoredObject next() {
            int part = policy.least(candidates, views.objects());
            if (part < 0) {
                return null;
            }
            StoredObject object = views.object(candidates[part]);
            candidates[part] = order.nextInPart(part, candidates[part]);
            return object;
        }

        /** At the end of a part it goes on with what comes there: that is often worth less than what other parts have left. */
        @Override
        void enter(int object) {
            int part = views.objects().uses(object);
            if (candidates[part] == Slabs.NONE) {
                candidates[part] = object;
            }
        }

        @Override
        void leave(int object) {
            for (int part = 0; part < candidates.length; part++) {
                if (candidates[part] == object) {
                    candidates[part] = order.nextInPart(part, object);
                }
            }
        }
    }

    private final Views views;
    private final UseOrder order;
    private final List<Walk> walks = new ArrayList<>();

    /** The walk through what comes that is under way, null when none is. */
    private StraightWalk whatComes;

    ObjectChain(Views views) {
        this.views = views;
        this.order = new UseOrder(views.objects());
    }

    boolean isEmpty() {
        return order.first() == Slabs.NONE;
    }

    /** Sees all that is there and stays: what is used stands no further in front than it did. What comes may be missed. */
    public Walk fromFirst() {
        return begin(new StraightWalk(order.first(), true, false));
    }

    /** The same for an eviction, in the order that a policy gives; what is used meanwhile may slip past it. */
    Walk evict(ReusePolicy policy) {
        return begin(new EvictionWalk(policy));
    }

    public Walk fromLast() {
        return begin(new StraightWalk(order.last(), false, false));
    }

    /** From the first on, and until it is ended also by whatever is added behind the last. */
    public Walk throughAll() {
        return begin(new StraightWalk(order.first(), true, true));
    }

    /** Through what comes or is used from now on: as long as it is not ended that stands behind all that was there before. */
    public StraightWalk throughWhatComes() {
        whatComes = begin(new StraightWalk(Links.NONE, true, true));
        return whatComes;
    }

    private <T extends Walk> T begin(T walk) {
        walks.add(walk);
        return walk;
    }

    /** An object is used: it moves behind those that were used as often, or to the end as long as a walk waits for it there. */
    void touch(int object) {
        boolean isThere = isAwaited() ? object == order.last() : order.isLastOfPart(object);
        if (!isThere) {
            remove(object);
            insert(object);
        }
    }

    /** Adds a new object in the same way. */
    void enter(int object) {
        insert(object);
        for (Walk walk : walks) {
            walk.enter(object);
        }
    }

    private void insert(int object) {
        if (isAwaited()) {
            append(object);
        } else {
            order.add(object);
        }
    }

    private boolean isAwaited() {
        return whatComes != null;
    }

    /** From now on objects stand where they stand, however often they were used. */
    void unite() {
        order.unite();
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
        return Views.each(order.first(), views.objects()::after, views::object);
    }
}
