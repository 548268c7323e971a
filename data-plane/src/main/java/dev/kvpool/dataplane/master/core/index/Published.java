// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.base.Bounds;
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
    private final ObjectChain recency;
    private int poolCopies;

    /** Objects up to this one should have no fewer than the pool wants, whatever their puts asked for. */
    private ObjectId raisedUpTo = ObjectId.NONE;

    /** A leader decides how many copies each should have; before, as many are wanted as are there, or the pool asks for. */
    private boolean serving;

    private long unavailable;
    private long shortOfCopies;
    private long overReplicated;

    /** Objects below it are out of sight; they are forgotten little by little. */
    private ObjectId purgeId = ObjectId.NONE;

    private int purged;

    /** @param poolCopies how many copies the pool wants of an object */
    Published(Views views, ObjectTables.ByKey byKey, int poolCopies) {
        this.objects = views.objects();
        this.replicas = views.replicas();
        this.byKey = byKey;
        this.recency = new ObjectChain(views);
        this.poolCopies = poolCopies;
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

    boolean isServing() {
        return serving;
    }

    void setServing(boolean nowServing) {
        serving = nowServing;
    }

    /** The pool wants so many copies from now on; those up to an id are brought up to it as they are counted again. */
    void wantCopies(int copies, ObjectId upTo) {
        poolCopies = copies;
        raisedUpTo = upTo;
    }

    /** In the order of their last lease or publish. */
    ObjectChain recency() {
        return recency;
    }

    int count() {
        return byKey.size() - purged;
    }

    /** Those with no replica that counts; the three sums follow {@link Recounts}. */
    long unavailable() {
        return unavailable;
    }

    /** Those with fewer replicas that count than they should have, those with none included. */
    long shortOfCopies() {
        return shortOfCopies;
    }

    /** Those with more replicas that count than they should have. */
    long overReplicated() {
        return overReplicated;
    }

    void add(int object) {
        byKey.add(object);
        recency.append(object);
        measure(object);
        count(object, +1);
    }

    void remove(int object) {
        byKey.remove(object);
        recency.remove(object);
        purged -= isPurged(object) ? 1 : 0;
        count(object, -1);
    }

    /** One of them may have more, or fewer, replicas that count than it had. */
    void recount(int object) {
        count(object, -1);
        measure(object);
        count(object, +1);
    }

    private void measure(int object) {
        int counted = Math.min(replicas.counted(object), ObjectRecords.COUNTED_MAX);
        objects.setCounted(object, counted);
        if (!serving) {
            // Copies on transient nodes say nothing of what was asked for, and other nodes could not always replace
            // them.
            int lasting = counted > poolCopies ? replicas.lasting(object) : counted;
            objects.setWanted(object, Math.clamp(Math.max(poolCopies, lasting), 1, Bounds.REPLICAS_MAX));
        } else if (objects.wanted(object) < poolCopies && !objects.id(object).isNewerThan(raisedUpTo)) {
            objects.setWanted(object, poolCopies);
        }
    }

    private void count(int object, int change) {
        int counted = objects.counted(object);
        int wanted = objects.wanted(object);
        unavailable += counted == 0 ? change : 0;
        shortOfCopies += counted < wanted ? change : 0;
        overReplicated += counted > wanted ? change : 0;
    }

    /** Takes all of them out of sight at once; they must be older than {@code id}. */
    void purge(ObjectId id) {
        purgeId = id;
        purged = byKey.size();
    }

    /** The purge was begun and is not certain: what it covers is shown again, unless somebody settles it. */
    void takePurgeBack() {
        purged = 0;
    }

    boolean hasPurged() {
        return purged > 0;
    }

    boolean isPurged(int object) {
        return purged > 0 && purgeId.isNewerThan(objects.id(object));
    }

    private int inSight(int object) {
        return object == Slabs.NONE || isPurged(object) ? Slabs.NONE : object;
    }
}
