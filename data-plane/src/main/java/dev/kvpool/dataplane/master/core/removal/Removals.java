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
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.register.Absences;
import dev.kvpool.dataplane.master.core.register.FailedSsds;
import dev.kvpool.dataplane.master.core.register.Members;
import dev.kvpool.dataplane.master.core.replication.Copies;
import dev.kvpool.dataplane.master.core.settlement.Settlement;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Takes an object away for good: out of sight at once, done when no leader can find it again. With every member in view that is so
 * when each replica's node has freed it; else a tombstone tells the nodes that are away and may still hold a replica.
 */
public final class Removals {
    /** A removal of which a node went away, or ended, before it had freed its replica. */
    private record Interrupted(Key key, ObjectId id, Consumer<Status> whenDone) {}

    private final Index index;
    private final Members members;
    private final FailedSsds failedSsds;
    private final Absences absences;
    private final LateWrites lateWrites;
    private final Grants grants;
    private final Frees frees;
    private final Settlement settlement;
    private final Leadership leadership;
    private final TombstoneWriter tombstoneWriter;
    private final Copies copies;

    /** Who else waits for each that is under way. */
    private final Map<Key, List<Consumer<Status>>> underWay = new HashMap<>();

    private final Deque<Interrupted> interrupted = new ArrayDeque<>();

    public Removals(
            Leadership leadership,
            View view,
            Orders orders,
            Grants grants,
            Settlement settlement,
            TombstoneWriter tombstoneWriter,
            Copies copies) {
        this.index = view.index();
        this.members = orders.members();
        this.failedSsds = orders.failedSsds();
        this.absences = orders.absences();
        this.lateWrites = orders.lateWrites();
        this.grants = grants;
        this.frees = orders.frees();
        this.settlement = settlement;
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
    public void tick(long nowMs) {
        for (int i = interrupted.size(); i > 0; i--) {
            goOn(interrupted.remove(), nowMs);
        }
    }

    /** The object was alone with its key when it was to be freed: what came since is newer, and is left alone. */
    private void goOn(Interrupted removal, long nowMs) {
        Key key = removal.key;
        if (index.object(removal.id, key) == null && members.isAllInView()) {
            removal.whenDone.accept(Status.OK);
        } else if (absences.isPossible()) {
            tombstoneWriter.write(
                    key,
                    removal.id,
                    wherever(key, nowMs),
                    SsdClearing.When.AT_ONCE,
                    nowMs,
                    outcome -> removal.whenDone.accept(outcome.status()));
        } else {
            removal.whenDone.accept(Status.UNAVAILABLE);
        }
    }

    /** Why an object, null when none is published, cannot be removed with the nodes as they are now; OK when it can. */
    public Status objection(Key key, StoredObject object, boolean force, long nowMs) {
        if (underWay.containsKey(key) || tombstoneWriter.isWriting(key)) {
            // Its object is out of sight, and is published again if that removal fails.
            return Status.BUSY;
        }
        boolean remains = mayLeaveOthers(key, nowMs);
        if (object == null
                && !remains
                && (force ? members.isAllInView() : members.unheard().isEmpty())) {
            return Status.NOT_FOUND;
        }
        if (object != null && !remains && isWhollyInView(object)) {
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
    public void remove(Key key, StoredObject object, long nowMs, Consumer<Status> whenTold) {
        underWay.put(key, List.of());
        Consumer<Status> whenDone = status -> failedSsds.whenNoted(() -> {
            List<Consumer<Status>> others = underWay.remove(key);
            whenTold.accept(status);
            if (others != null) {
                others.forEach(it -> it.accept(status));
            }
        });
        if (object == null) {
            // An object that was evicted or superseded and is not freed yet must not be found by the next leader.
            writeTombstone(key, null, nowMs, whenDone);
            return;
        }
        ObjectId id = object.id();
        boolean alone = !mayLeaveOthers(key, nowMs) && copies.demoting(key, id.before()) == null;
        index.doom(object, Cause.REMOVED);
        // What a copy is still bringing to a node must be there before it can be freed.
        copies.afterwards(object.name(), () -> vanish(key, id, alone, nowMs, whenDone));
    }

    /** Keys of removals that are under way. */
    public List<Key> underWay() {
        return List.copyOf(underWay.keySet());
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

    private void vanish(Key key, ObjectId id, boolean wasAlone, long nowMs, Consumer<Status> whenDone) {
        // While copies were waited for, a node may have joined that has an earlier one. What is newer was put
        // meanwhile, and stays.
        boolean alone = wasAlone && hasNoEarlier(key, id);
        StoredObject object = index.object(id, key);
        if (object == null && members.isAllInView() && alone) {
            whenDone.accept(Status.OK);
        } else if (object != null && alone && isWhollyInView(object)) {
            free(object, freed -> {
                if (freed) {
                    whenDone.accept(Status.OK);
                } else {
                    interrupted.add(new Interrupted(key, id, whenDone));
                }
            });
        } else if (absences.isPossible() && leadership.leads()) {
            writeTombstone(key, id, nowMs, whenDone);
        } else {
            takeBack(object, nowMs);
            whenDone.accept(Status.UNAVAILABLE);
        }
    }

    private void writeTombstone(Key key, ObjectId id, long nowMs, Consumer<Status> whenDone) {
        endGrantLeftBehind(key, nowMs);
        // The leader's next id is above whatever was ever granted for this key.
        ObjectId upTo = leadership.nextObjectId();
        tombstoneWriter.write(key, upTo, wherever(key, nowMs), SsdClearing.When.AT_ONCE, nowMs, outcome -> {
            // Nothing but the id of the object is good for longer than a turn.
            StoredObject left = id == null ? null : index.object(id, key);
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

    private boolean hasNoEarlier(Key key, ObjectId id) {
        StoredObject published = index.published(key);
        return (published == null || !id.isNewerThan(published.id()))
                && index.remains().of(key).stream().noneMatch(id::isNewerThan);
    }

    /** Whether other objects of the key are, or may come to be, in some directory when its published one is freed. */
    private boolean mayLeaveOthers(Key key, long nowMs) {
        return !index.remains().of(key).isEmpty() || lateWrites.mayCome(key, nowMs);
    }

    /** Nodes in view that hold, or may come to hold, something of the key besides its published object. */
    private Set<NodeView> wherever(Key key, long nowMs) {
        Set<NodeView> nodes = new HashSet<>();
        for (NodeView node : lateWrites.nodesOf(key, nowMs)) {
            if (node.usable()) {
                nodes.add(node);
            }
        }
        for (ObjectId other : index.remains().of(key)) {
            StoredObject object = index.object(other, key);
            if (object != null) {
                object.replicas().forEach(replica -> {
                    if (replica.node().usable()) {
                        nodes.add(replica.node());
                    }
                });
            }
        }
        return nodes;
    }

    private boolean isWhollyInView(StoredObject object) {
        return members.isAllInView() && object.usableReplicas() == object.replicaCount();
    }

    private void free(StoredObject object, Consumer<Boolean> whenDone) {
        frees.giveUp(object, Cause.REMOVED, new Frees.Removal(whenDone));
    }

    /** A writer whose grant nobody waits for any more must not publish an id that is about to be dead. */
    private void endGrantLeftBehind(Key key, long nowMs) {
        Grant grant = grants.ofKey(key);
        if (grant != null) {
            grants.end(grant);
            settlement.giveUpLeftOver(grant.id, key, nowMs);
        }
    }

    /** Nothing could be written down: the object, null when it is gone, is as it was. */
    private void takeBack(StoredObject object, long nowMs) {
        if (object != null && leadership.leads()) {
            settlement.takeBack(object, nowMs);
        }
    }
}
