// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Change.Cause;
import dev.kvpool.dataplane.master.core.index.StoredObject.Fate;
import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.Key;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;
import java.util.function.Consumer;

/**
 * What has been decided about objects, and what follows from it: who is published, what is still to be decided and what is
 * still to be freed. Each object is in the chain of its fate, so nobody ever has to look for those of one fate among all.
 */
final class Fates {
    private final ObjectRecords objects;
    private final Published published;
    private final Remains remains = new Remains();

    /** Unsettled objects that are among the remains. */
    private final Set<Integer> outdone = new HashSet<>();

    private final ObjectChain unsettled;
    private final ObjectChain pendingFree;
    private Consumer<Key> lost = key -> {};

    /** How far the reconsidering of what an ended term has given up is; null when it is done. */
    private ObjectChain.Walk reconsidered;

    Fates(Views views, Published published) {
        this.objects = views.objects();
        this.published = published;
        this.unsettled = new ObjectChain(views);
        this.pendingFree = new ObjectChain(views);
    }

    Remains remains() {
        return remains;
    }

    ObjectChain unsettled() {
        return unsettled;
    }

    ObjectChain pendingFree() {
        return pendingFree;
    }

    /** A new object. */
    void created(int object) {
        objects.setFate(object, Fate.UNSETTLED);
        unsettled.append(object);
    }

    /** A new object with the id of another one that it contradicts: nobody finds it, and it is freed. */
    void contradicts(int object, DirectoryRecord line) {
        objects.setUnlisted(object);
        objects.setFate(object, Fate.PENDING_FREE);
        pendingFree.append(object);
        remains.add(line.key(), line.objectId());
    }

    /** Whether readers find an object: what was put and acknowledged among them. */
    boolean isRead(int object) {
        return objects.fate(object) == Fate.PUBLISHED && published.isServing();
    }

    /** An object whose id is another's, as is known now: it is not found any more, and is freed. */
    void displaced(int object) {
        if (objects.fate(object) != Fate.PENDING_FREE) {
            leave(object, Fate.PENDING_FREE, Cause.REPLACED);
        }
        objects.setUnlisted(object);
    }

    void publish(int object, int wanted, boolean isPut) {
        int before = published.anyUnderKeyOf(object);
        if (before != Slabs.NONE && published.isPurged(before)) {
            leave(before, Fate.UNSETTLED, Cause.REMOVED);
            if (published.isServing()) {
                doom(before, Cause.REMOVED);
            }
            before = Slabs.NONE;
        }
        if (before != Slabs.NONE || objects.fate(object) == Fate.PUBLISHED) {
            throw new IllegalStateException("key of " + objects.id(object) + " is already published");
        }
        leave(object, Fate.PUBLISHED, Cause.REPLACED);
        objects.setWanted(object, Math.clamp(wanted, 1, Bounds.REPLICAS_MAX));
        published.add(object, isPut);
    }

    /** Takes a published object out of sight without deciding about it. */
    void unpublish(int object) {
        if (objects.fate(object) == Fate.PUBLISHED) {
            leave(object, Fate.UNSETTLED, Cause.REPLACED);
        }
    }

    /** The same of one that has a newer one of its key beside it, which may turn out to be gone. */
    void outdo(int object) {
        unpublish(object);
        if (objects.fate(object) == Fate.UNSETTLED && outdone.add(object)) {
            remains.add(objects.key(object), objects.id(object));
        }
    }

    void doom(int object, Cause cause) {
        if (objects.fate(object) != Fate.PENDING_FREE) {
            leave(object, Fate.PENDING_FREE, cause);
        }
    }

    /** From now on this hears of each key that was readable and that no node has any more. */
    void whenLost(Consumer<Key> heard) {
        lost = heard;
    }

    /** No node has the object any more. */
    void forget(int object) {
        if (objects.fate(object) == Fate.PUBLISHED && published.isServing() && !published.isPurged(object)) {
            lost.accept(objects.key(object));
        }
        takeOut(object, Cause.LOST);
    }

    void forgetPurged(int limit) {
        // What is published or used after a purge goes behind what was there before.
        Iterator<StoredObject> coldestFirst = published.recency().iterator();
        for (int i = 0; i < limit && published.hasPurged() && coldestFirst.hasNext(); i++) {
            int object = coldestFirst.next().at();
            if (published.isPurged(object)) {
                doom(object, Cause.REMOVED);
            }
        }
    }

    /**
     * A term ended: nothing that was given up counts as given up any more, which {@link #goOnReconsidering} brings about. What
     * is published stays so, as the object that has its key until a newer one is found.
     */
    void reconsider() {
        if (reconsidered != null) {
            reconsidered.end();
        }
        reconsidered = pendingFree.fromFirst();
    }

    /**
     * Reconsiders so many of the objects that were given up. Nothing may be given up before all are.
     *
     * @return whether all are
     */
    boolean goOnReconsidering(int visits) {
        for (int i = 0; i < visits && reconsidered != null; i++) {
            StoredObject object = reconsidered.next();
            if (object == null) {
                reconsidered.end();
                reconsidered = null;
            } else if (!objects.isUnlisted(object.at())) {
                leave(object.at(), Fate.UNSETTLED, Cause.REPLACED);
            }
        }
        return reconsidered == null;
    }

    /** What is counted of an object may have changed. */
    void recount(int object) {
        if (objects.fate(object) == Fate.PUBLISHED) {
            published.recount(object);
        }
    }

    /** A replica was added to an object. */
    void copied(int object, int replica) {
        recount(object);
        if (objects.fate(object) == Fate.PUBLISHED) {
            published.copied(object, replica);
        }
    }

    /** A replica of an object is about to be forgotten. */
    void dropping(int object, int replica) {
        if (objects.fate(object) == Fate.PUBLISHED) {
            published.dropping(object, replica);
        }
    }

    /** @param cause why readers do not find it any more, if they did */
    private void leave(int object, Fate forFate, Cause cause) {
        objects.setWithdrawn(object, forFate == Fate.PENDING_FREE && isRead(object));
        takeOut(object, cause);
        objects.setFate(object, forFate);
        switch (forFate) {
            case UNSETTLED -> unsettled.append(object);
            case PUBLISHED -> {} // whoever publishes adds it
            case PENDING_FREE -> {
                pendingFree.append(object);
                remains.add(objects.key(object), objects.id(object));
            }
        }
    }

    private void takeOut(int object, Cause cause) {
        switch (objects.fate(object)) {
            case UNSETTLED -> {
                unsettled.remove(object);
                if (outdone.remove(object)) {
                    remains.remove(objects.key(object), objects.id(object));
                }
            }
            case PUBLISHED -> published.remove(object, cause);
            case PENDING_FREE -> {
                pendingFree.remove(object);
                remains.remove(objects.key(object), objects.id(object));
            }
        }
    }
}
