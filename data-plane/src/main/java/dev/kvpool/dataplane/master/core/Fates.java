// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.StoredObject.Fate;
import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.master.core.slab.SplitTable;
import java.util.Iterator;

/** The leader's decisions about objects, and what follows from them: who is published, and what is still to be freed. */
final class Fates {
    private final ObjectRecords objects;
    private final Published published;
    private final Remains remains = new Remains();

    /** Objects with another fate than {@link Fate#UNSETTLED}, those that have no id of their own left out. */
    private long decided;

    Fates(Views views, Published published) {
        this.objects = views.objects();
        this.published = published;
    }

    Remains remains() {
        return remains;
    }

    void publish(int object, int wanted) {
        int before = published.anyUnderKeyOf(object);
        if (before != Slabs.NONE && published.isPurged(before)) {
            doom(before);
            before = Slabs.NONE;
        }
        Fate fate = objects.fate(object);
        if (before != Slabs.NONE || fate == Fate.PUBLISHED) {
            throw new IllegalStateException("key of " + objects.id(object) + " is already published");
        }
        if (fate == Fate.DOOMED) {
            remains.remove(objects.key(object), objects.id(object));
        }
        set(object, Fate.PUBLISHED);
        objects.setWanted(object, Math.clamp(wanted, 1, Bounds.REPLICAS_MAX));
        published.add(object);
    }

    void doom(int object) {
        unpublish(object);
        if (objects.fate(object) != Fate.DOOMED) {
            set(object, Fate.DOOMED);
            remains.add(objects.key(object), objects.id(object));
        }
    }

    /** No node has the object any more. */
    void forget(int object) {
        unpublish(object);
        if (objects.fate(object) == Fate.DOOMED) {
            remains.remove(objects.key(object), objects.id(object));
            set(object, Fate.UNSETTLED);
        }
    }

    void forgetPurged(int limit) {
        // What is published or used after a purge goes behind what was there before.
        Iterator<StoredObject> coldestFirst = published.recency().iterator();
        for (int i = 0; i < limit && published.hasPurged() && coldestFirst.hasNext(); i++) {
            int object = coldestFirst.next().at();
            if (published.isPurged(object)) {
                doom(object);
            }
        }
    }

    /** A new term: {@code all} walks over every object that can be found by its id. */
    void forgetAll(SplitTable.Walk all) {
        remains.clear();
        published.clear();
        // A standby has decided nothing, so that its takeover need not walk over all it knows.
        if (decided > 0) {
            for (int object = all.next(); object != Slabs.NONE; object = all.next()) {
                objects.setFate(object, Fate.UNSETTLED);
            }
            decided = 0;
        }
    }

    /** The number of an object's replicas on usable nodes changes. */
    void usable(int object, int before, int now) {
        if (before != now && objects.fate(object) == Fate.PUBLISHED) {
            published.usableChanged(object, before, now);
        }
    }

    /** Takes an object out of sight without deciding about it. */
    void unpublish(int object) {
        if (objects.fate(object) == Fate.PUBLISHED) {
            published.remove(object);
            set(object, Fate.UNSETTLED);
        }
    }

    private void set(int object, Fate fate) {
        if (!objects.isUnlisted(object)) {
            decided += (fate == Fate.UNSETTLED ? 0 : 1) - (objects.fate(object) == Fate.UNSETTLED ? 0 : 1);
        }
        objects.setFate(object, fate);
    }
}
