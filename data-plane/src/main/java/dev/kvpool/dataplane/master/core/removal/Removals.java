// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.removal;

import dev.kvpool.dataplane.master.core.base.Change.Cause;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.command.Frees;
import dev.kvpool.dataplane.master.core.command.Grant;
import dev.kvpool.dataplane.master.core.command.Grants;
import dev.kvpool.dataplane.master.core.command.LateWrites;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.reconciliation.Reconciliation;
import dev.kvpool.dataplane.master.core.register.Absences;
import dev.kvpool.dataplane.master.core.register.FailedSsds;
import dev.kvpool.dataplane.master.core.register.Members;
import dev.kvpool.dataplane.master.core.replication.Copies;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Takes an object away for good: out of sight at once, done when no leader can find it again. With every member in view that is so
 * when each replica's node has freed it; else a tombstone tells the nodes that are away and may still hold a replica.
 */
public final class Removals {
    /**
     * The removal of one object, or of what is left of a key.
     *
     * @param id of the object; null when none is published
     * @param upTo the highest id of the key that goes with it: what is granted since is newer, and stays
     */
    private record Removal(Key key, ObjectId id, ObjectId upTo, Consumer<Status> whenDone) {}

    private final Index index;
    private final Members members;
    private final FailedSsds failedSsds;
    private final Absences absences;
    private final LateWrites lateWrites;
    private final Grants grants;
    private final Frees frees;
    private final Reconciliation reconciliation;
    private final Leadership leadership;
    private final TombstoneWriter tombstoneWriter;
    private final Copies copies;

    /** Who else waits for each that is under way. */
    private final Map<Key, List<Consumer<Status>>> underWay = new HashMap<>();

    /** Those of which a node went away, or ended, before it had freed its replica. */
    private final Deque<Removal> interrupted = new ArrayDeque<>();

    private Consumer<StoredObject> takenBack = object -> {};

    private long nowMs;

    public Removals(
            Leadership leadership,
            View view,
            Orders orders,
            Grants grants,
            Reconciliation reconciliation,
            TombstoneWriter tombstoneWriter,
            Copies copies) {
        this.index = view.index();
        this.members = orders.members();
        this.failedSsds = orders.failedSsds();
        this.absences = orders.absences();
        this.lateWrites = orders.lateWrites();
        this.grants = grants;
        this.frees = orders.frees();
        this.reconciliation = reconciliation;
        this.leadership = leadership;
        this.tombstoneWriter = tombstoneWriter;
        this.copies = copies;
    }

    /** Who waited has been answered. */
    public void endTerm() {
        underWay.clear();
        interrupted.clear();
    }

    /** Goes on with what was interrupted, once the nodes that are away are known. */
    public void tick(long now) {
        nowMs = now;
        for (int i = interrupted.size(); i > 0; i--) {
            goOn(interrupted.remove());
        }
    }

    private void goOn(Removal removal) {
        if (index.object(removal.id, removal.key) == null && members.isAllInView() && isAlone(removal)) {
            removal.whenDone.accept(Status.OK);
        } else if (absences.isPossible()) {
            writeTombstone(removal, outcome -> removal.whenDone.accept(outcome.status()));
        } else {
            removal.whenDone.accept(Status.UNAVAILABLE);
        }
    }

    /** Why an object, null when none is published, cannot be removed with the nodes as they are now; OK when it can. */
    public Status objection(Key key, StoredObject object, boolean force, long now) {
        nowMs = now;
        if (underWay.containsKey(key) || tombstoneWriter.isWriting(key)) {
            // Its object is out of sight, and is published again if that removal fails.
            return Status.BUSY;
        }
        boolean remains = leavesOthers(key, object == null ? null : object.id(), leadership.objectIdToCome());
        if (object == null
                && !remains
                && (force ? members.isAllInView() : members.unheard().isEmpty())) {
            return Status.NOT_FOUND;
        }
        if (object != null && !remains && grants.ofKey(key) == null && isWhollyInView(object)) {
            return Status.OK;
        }
        if (tombstoneWriter.isFull()) {
            return Status.QUEUE_FULL;
        }
        return absences.isPossible() ? Status.OK : Status.UNAVAILABLE;
    }

    /**
     * Removes what {@link #objection} has nothing against.
     *
     * @param whenTold told OK, or why it is not certain that the object is gone
     */
    public void remove(Key key, StoredObject object, long now, Consumer<Status> whenTold) {
        nowMs = now;
        underWay.put(key, List.of());
        StoredObject.Name name = object == null ? null : object.name();
        Consumer<Status> whenDone = status -> {
            frees.letGo(name);
            failedSsds.whenNoted(() -> {
                List<Consumer<Status>> others = underWay.remove(key);
                whenTold.accept(status);
                if (others != null) {
                    others.forEach(it -> it.accept(status));
                }
            });
        };
        ObjectId upTo = leadership.nextObjectId();
        endGrantLeftBehind(key);
        if (object == null) {
            // An object that was evicted or superseded and is not freed yet must not be found by the next leader.
            writeTombstone(new Removal(key, null, upTo, whenDone));
            return;
        }
        Removal removal = new Removal(key, object.id(), upTo, whenDone);
        index.doom(object, Cause.REMOVED);
        frees.hold(name);
        // What a copy is still bringing to a node must be there before it can be freed.
        copies.afterwards(name, () -> vanish(removal));
    }

    /** Keys of removals that are under way. */
    public List<Key> underWay() {
        return List.copyOf(underWay.keySet());
    }

    /** Runs something when what is removed or written down of a key just now is decided; false when nothing is. */
    public boolean afterwards(Key key, Runnable task) {
        return await(key, status -> task.run()) || tombstoneWriter.afterwards(key, task);
    }

    /** From now on this hears of each object that is published again since it could not be removed. */
    public void whenTakenBack(Consumer<StoredObject> heard) {
        takenBack = heard;
    }

    /** Calls back like the removal of this key that is under way; false when none is. */
    public boolean await(Key key, Consumer<Status> whenTold) {
        return underWay.computeIfPresent(key, (k, others) -> {
                    List<Consumer<Status>> all = new ArrayList<>(others);
                    all.add(whenTold);
                    return all;
                })
                != null;
    }

    private void vanish(Removal removal) {
        boolean alone = isAlone(removal);
        StoredObject object = index.object(removal.id, removal.key);
        if (object == null && members.isAllInView() && alone) {
            removal.whenDone.accept(Status.OK);
        } else if (object != null && alone && isWhollyInView(object)) {
            free(object, freed -> {
                if (freed) {
                    removal.whenDone.accept(Status.OK);
                } else {
                    interrupted.add(removal);
                }
            });
        } else if (absences.isPossible() && leadership.leads()) {
            writeTombstone(removal);
        } else {
            takeBack(object);
            removal.whenDone.accept(Status.UNAVAILABLE);
        }
    }

    private void writeTombstone(Removal removal) {
        writeTombstone(removal, outcome -> {
            // Nothing but the id of the object is good for longer than a turn.
            StoredObject left = removal.id == null ? null : index.object(removal.id, removal.key);
            if (left == null) {
                removal.whenDone.accept(outcome.status());
            } else if (outcome.begun()) {
                free(left, freed -> removal.whenDone.accept(outcome.status()));
            } else {
                takeBack(left);
                removal.whenDone.accept(outcome.status());
            }
        });
    }

    private void writeTombstone(Removal removal, Consumer<TombstoneWriter.Outcome> whenDecided) {
        tombstoneWriter.write(
                removal.key,
                removal.upTo,
                tombstoneWriter.holders(removal.key, removal.upTo, nowMs),
                SsdClearing.When.AT_ONCE,
                nowMs,
                whenDecided);
    }

    /** Asked when nothing is waited for any more: a node may have shown another object meanwhile. */
    private boolean isAlone(Removal removal) {
        return !leavesOthers(removal.key, removal.id, removal.upTo);
    }

    /** Whether other objects of a key, up to an id, are or may come to be in some directory when this one is freed. */
    private boolean leavesOthers(Key key, ObjectId id, ObjectId upTo) {
        StoredObject published = index.published(key);
        Predicate<ObjectId> isOther = other -> !other.equals(id) && !other.isNewerThan(upTo);
        return lateWrites.mayCome(key, nowMs)
                || copies.demoting(key, id == null ? upTo : id.before()) != null
                || (published != null && isOther.test(published.id()))
                || index.remains().of(key).stream().anyMatch(isOther);
    }

    private boolean isWhollyInView(StoredObject object) {
        return members.isAllInView() && object.usableReplicas() == object.replicaCount();
    }

    private void free(StoredObject object, Consumer<Boolean> whenDone) {
        frees.letGo(object.name());
        frees.giveUp(object, Cause.REMOVED, new Frees.Removal(whenDone));
    }

    /**
     * A writer whose grant no client waits for any more must not publish what is about to be dead, nor in the time until it is: as what
     * readers find it would not be told that it goes.
     */
    private void endGrantLeftBehind(Key key) {
        Grant grant = grants.ofKey(key);
        if (grant != null) {
            grants.end(grant);
            reconciliation.giveUpLeftOver(grant.id, key, nowMs);
        }
    }

    /** Nothing could be written down: the object, null when it is gone, is as it was. */
    private void takeBack(StoredObject object) {
        if (object != null && leadership.leads()) {
            frees.letGo(object.name());
            reconciliation.takeBack(object, nowMs);
            if (object.fate() == StoredObject.Fate.PUBLISHED) {
                takenBack.accept(object);
            }
        }
    }
}
