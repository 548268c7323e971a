// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.function.Consumer;

/**
 * Takes an object away for good: out of sight at once, done when no leader can find it again. With every expected node in
 * view that is so when each replica's node has freed it; else a tombstone tells the nodes that are away, or have never been
 * seen, and may still hold a replica.
 */
final class Removals {
    private final Index index;
    private final Membership membership;
    private final Grants grants;
    private final Frees frees;
    private final Settlement settlement;
    private final Leadership leadership;
    private final Burials burials;
    private final Copies copies;

    Removals(
            Index index,
            Membership membership,
            Grants grants,
            Frees frees,
            Settlement settlement,
            Leadership leadership,
            Burials burials,
            Copies copies) {
        this.index = index;
        this.membership = membership;
        this.grants = grants;
        this.frees = frees;
        this.settlement = settlement;
        this.leadership = leadership;
        this.burials = burials;
        this.copies = copies;
    }

    /** Why an object, null when none is published, cannot be removed with the nodes as they are now; OK when it can. */
    Status objection(Key key, StoredObject object, boolean force) {
        if (burials.isBurying(key)) {
            return Status.BUSY;
        }
        if (canBeFreedOutright(key, object)) {
            return object == null ? Status.NOT_FOUND : Status.OK;
        }
        if (object == null && !force) {
            return Status.NOT_FOUND;
        }
        if (object == null && membership.isAllInView()) {
            return Status.NOT_FOUND;
        }
        boolean missed = object != null && object.usableReplicas() < object.replicaCount();
        if (missed && !force) {
            return Status.UNAVAILABLE;
        }
        if (burials.isFull()) {
            return Status.QUEUE_FULL;
        }
        return membership.isMajorityInView() ? Status.OK : Status.UNAVAILABLE;
    }

    /**
     * Removes what {@link #objection} has nothing against.
     *
     * @param whenDone told OK, or why it is not certain that the object is gone
     */
    void remove(Key key, StoredObject object, long nowMs, Consumer<Status> whenDone) {
        if (object == null) {
            bury(key, null, nowMs, whenDone);
            return;
        }
        boolean alone = index.remains().of(key).isEmpty();
        ObjectId id = object.id();
        index.doom(object);
        // What a copy is still bringing to a node must be there before it can be freed.
        copies.afterwards(id, () -> vanish(key, id, alone, nowMs, whenDone));
    }

    private void vanish(Key key, ObjectId id, boolean alone, long nowMs, Consumer<Status> whenDone) {
        StoredObject object = index.object(id);
        if (object == null && membership.isAllInView() && alone) {
            whenDone.accept(Status.OK);
        } else if (object != null && alone && isWhollyInView(object)) {
            free(object, freed -> whenDone.accept(freed ? Status.OK : Status.UNAVAILABLE));
        } else if (membership.isMajorityInView() && leadership.leads()) {
            bury(key, id, nowMs, whenDone);
        } else {
            takeBack(object, nowMs);
            whenDone.accept(Status.UNAVAILABLE);
        }
    }

    private void bury(Key key, ObjectId id, long nowMs, Consumer<Status> whenDone) {
        endGrantLeftBehind(key, nowMs);
        // The leader's next id is above whatever was ever granted for this key.
        ObjectId upTo = leadership.nextObjectId();
        burials.bury(key, upTo, outcome -> {
            // Nothing but the id of the object is good for longer than a turn.
            StoredObject left = id == null ? null : index.object(id);
            if (left == null) {
                whenDone.accept(outcome.status());
            } else if (outcome.begun()) {
                free(left, freed -> whenDone.accept(outcome.status()));
            } else {
                takeBack(left, nowMs);
                whenDone.accept(outcome.status());
            }
        });
    }

    /** Whether no node holds, or may hold, anything of this key that is not freed along with the object. */
    private boolean canBeFreedOutright(Key key, StoredObject object) {
        return index.remains().of(key).isEmpty()
                && (object == null ? membership.isAllInView() : isWhollyInView(object));
    }

    private boolean isWhollyInView(StoredObject object) {
        return membership.isAllInView() && object.usableReplicas() == object.replicaCount();
    }

    private void free(StoredObject object, Consumer<Boolean> whenDone) {
        frees.giveUp(object, new Frees.Removal(whenDone));
    }

    /** A writer whose grant nobody waits for any more must not publish an id that is about to be dead. */
    private void endGrantLeftBehind(Key key, long nowMs) {
        Grant grant = grants.ofKey(key);
        if (grant != null) {
            grants.end(grant);
            settlement.giveUpLeftOver(grant.id, nowMs);
        }
    }

    /**
     * Nothing could be written down: the object, null when it is gone, is as it was. If another has taken its key
     * meanwhile, or another removal was written down, it is freed.
     */
    private void takeBack(StoredObject object, long nowMs) {
        if (object == null || !leadership.leads()) {
            return;
        }
        if (index.published(object.key()) == null && !settlement.isDead(object)) {
            index.publish(object, object.wanted());
        } else {
            frees.giveUp(object, nowMs);
        }
    }
}
