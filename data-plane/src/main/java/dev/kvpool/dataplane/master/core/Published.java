// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.master.core.slab.SplitTable;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.ArrayList;
import java.util.List;

/** What readers find: at most one object of a key, in the order of their use, without those that a purge has covered. */
final class Published {
    private final ObjectRecords objects;
    private final ReplicaRecords replicas;
    private final ObjectTables.ByKey byKey;
    private final Recency recency;
    private long unavailable;
    private long shortOfCopies;
    private long overReplicated;

    /** Objects below it are out of sight; they are forgotten little by little. */
    private ObjectId purgeId = ObjectId.NONE;

    private int purged;

    Published(Views views, ObjectTables.ByKey byKey) {
        this.objects = views.objects();
        this.replicas = views.replicas();
        this.byKey = byKey;
        this.recency = new Recency(views);
    }

    /** {@link Slabs#NONE} when there is none in sight. */
    int find(Key key) {
        return inSight(byKey.find(key));
    }

    /** The one under the key of another object, {@link Slabs#NONE} when there is none in sight. */
    int findUnderKeyOf(int object) {
        return inSight(byKey.findKeyOf(object));
    }

    /** The one under the key of another object, in sight or purged. */
    int anyUnderKeyOf(int object) {
        return byKey.findKeyOf(object);
    }

    List<Key> keys(int limit) {
        List<Key> keys = new ArrayList<>();
        SplitTable.Walk walk = byKey.walk();
        for (int object = walk.next(); object != Slabs.NONE && keys.size() < limit; object = walk.next()) {
            if (!isPurged(object)) {
                keys.add(objects.key(object));
            }
        }
        return keys;
    }

    Recency recency() {
        return recency;
    }

    int count() {
        return byKey.size() - purged;
    }

    /** Those with no replica on a usable node. */
    long unavailable() {
        return unavailable;
    }

    /** Those with fewer replicas on usable nodes than they should have, those with none included. */
    long shortOfCopies() {
        return shortOfCopies;
    }

    /** Those with more replicas on usable nodes than they should have. */
    long overReplicated() {
        return overReplicated;
    }

    void add(int object) {
        byKey.add(object);
        recency.append(object);
        count(object, replicas.usable(object), +1);
    }

    void remove(int object) {
        byKey.remove(object);
        recency.remove(object);
        purged -= isPurged(object) ? 1 : 0;
        count(object, replicas.usable(object), -1);
    }

    /** One of them has more, or fewer, replicas on usable nodes than it had. */
    void usableChanged(int object, int before, int now) {
        count(object, before, -1);
        count(object, now, +1);
    }

    private void count(int object, int usable, int change) {
        int wanted = objects.wanted(object);
        unavailable += usable == 0 ? change : 0;
        shortOfCopies += usable < wanted ? change : 0;
        overReplicated += usable > wanted ? change : 0;
    }

    /** Takes all of them out of sight at once; they must be older than {@code id}. */
    void purge(ObjectId id) {
        purgeId = id;
        purged = byKey.size();
    }

    boolean hasPurged() {
        return purged > 0;
    }

    boolean isPurged(int object) {
        return purged > 0 && purgeId.isNewerThan(objects.id(object));
    }

    void clear() {
        byKey.clear();
        recency.clear();
        unavailable = 0;
        shortOfCopies = 0;
        overReplicated = 0;
        purged = 0;
    }

    private int inSight(int object) {
        return object == Slabs.NONE || isPurged(object) ? Slabs.NONE : object;
    }
}
