// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.request;

import dev.kvpool.dataplane.master.core.base.Asker;
import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Clients;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.base.PendingReplies;
import dev.kvpool.dataplane.master.core.base.PendingReply;
import dev.kvpool.dataplane.master.core.command.Grants;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.command.Purges;
import dev.kvpool.dataplane.master.core.count.RequestCounts.Kind;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Groups;
import dev.kvpool.dataplane.master.core.membership.RecentRemovals;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.register.Members;
import dev.kvpool.dataplane.master.core.removal.CopyRemovals;
import dev.kvpool.dataplane.master.core.removal.KeyPattern;
import dev.kvpool.dataplane.master.core.removal.Removals;
import dev.kvpool.dataplane.master.core.removal.Sweeps;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** Answers requests to remove one object, or all of them. */
final class RemoveRequests {
    private final Index index;
    private final Groups groups;
    private final Grants grants;
    private final Clients clients;
    private final Members members;
    private final PublishRequests publishes;
    private final Leadership leadership;
    private final Removals removals;
    private final CopyRemovals copyRemovals;
    private final Purges purges;
    private final PendingReplies replies;
    private final RecentRemovals recent;
    private final Counters counters;
    private final Sweeps sweeps;

    RemoveRequests(
            Leadership leadership,
            View view,
            Orders orders,
            Grants grants,
            Clients clients,
            PublishRequests publishes,
            Removals removals,
            CopyRemovals copyRemovals,
            PendingReplies replies,
            Counters counters) {
        this.index = view.index();
        this.groups = view.groups();
        this.grants = grants;
        this.clients = clients;
        this.members = orders.members();
        this.publishes = publishes;
        this.leadership = leadership;
        this.removals = removals;
        this.copyRemovals = copyRemovals;
        this.purges = orders.purges();
        this.replies = replies;
        this.recent = view.removals();
        this.counters = counters;
        this.sweeps = new Sweeps(index, new SweepVisitor(), clients);
        removals.whenTakenBack(sweeps::takenBack);
    }

    void remove(long session, RemoveRequest request, long nowMs) {
        PendingReply reply = replies.open(session, request.keys().size(), nowMs + Bounds.REMOVE_WAIT_MS, results -> {
            counters.requests().answered(Kind.REMOVE, results, Function.identity());
            return new RemoveReply(request.requestId(), Status.OK, results);
        });
        for (int i = 0; i < request.keys().size(); i++) {
            int line = i;
            Key key = request.keys().get(line);
            if (request.ofGroup()) {
                removeGroup(key, request.force(), nowMs, result -> reply.decide(line, result));
            } else if (!request.node().isEmpty()) {
                removeCopy(key, request.node(), request.force(), nowMs, result -> reply.decide(line, result));
            } else {
                remove(key, request.force(), nowMs, result -> reply.decide(line, result));
            }
        }
        reply.sendWhenComplete();
    }

    /** Each object of the group by itself: what could not be removed stays, and the answer says the first reason. */
    private void removeGroup(Key name, boolean force, long nowMs, Consumer<Status> answer) {
        List<Key> keys = new ArrayList<>();
        groups.members(name, Bounds.GROUP_OBJECTS_MAX).forEach(object -> keys.add(object.key()));
        if (keys.isEmpty() || keys.size() > Bounds.GROUP_OBJECTS_MAX) {
            answer.accept(keys.isEmpty() ? Status.NOT_FOUND : Status.TOO_LARGE);
            return;
        }
        GroupRemoval removal = new GroupRemoval(keys.size(), answer);
        keys.forEach(key -> remove(key, force, nowMs, removal::removed));
    }

    private void remove(Key key, boolean force, long nowMs, Consumer<Status> answer) {
        StoredObject object = index.published(key);
        Status objection = objection(key, object, force, nowMs);
        if (objection != Status.OK) {
            counters.add(Count.FULL_TOMBSTONE_WRITES, objection == Status.QUEUE_FULL ? 1 : 0);
            answer.accept(objection);
            return;
        }
        boolean wasThere = object != null || force;
        removals.remove(key, object, nowMs, result -> {
            removed(key, result);
            answer.accept(result == Status.OK && !wasThere ? Status.NOT_FOUND : result);
        });
    }

    /** The last copy takes its object with it. */
    private void removeCopy(Key key, String node, boolean force, long nowMs, Consumer<Status> answer) {
        if (!key.isValid()) {
            answer.accept(Status.INVALID_KEY);
            return;
        }
        StoredObject object = index.published(key);
        Replica copy = object == null ? null : copyRemovals.find(object, node);
        if (copy == null) {
            answer.accept(Status.NOT_FOUND);
        } else if (object.replicaCount() == 1) {
            remove(key, force, nowMs, answer);
        } else {
            Status objection = userObjection(key, object, force, nowMs);
            objection = objection == Status.OK ? copyRemovals.objection(copy) : objection;
            if (objection == Status.OK) {
                copyRemovals.remove(copy, answer);
            } else {
                answer.accept(objection);
            }
        }
    }

    private Status objection(Key key, StoredObject object, boolean force, long nowMs) {
        if (!key.isValid()) {
            return Status.INVALID_KEY;
        }
        Status objection = userObjection(key, object, force, nowMs);
        return objection == Status.OK ? removals.objection(key, object, force, nowMs) : objection;
    }

    /** Whether a writer or a reader is in the way. */
    private Status userObjection(Key key, StoredObject object, boolean force, long nowMs) {
        if (grants.isBeingPut(key, nowMs)) {
            return Status.BUSY;
        }
        boolean isInUse = !force && (isLeased(object, nowMs) || isReplacedOneLeased(key, nowMs));
        return isInUse ? Status.HAS_LEASE : Status.OK;
    }

    private boolean isLeased(StoredObject object, long nowMs) {
        if (object == null) {
            return false;
        }
        groups.refresh(object);
        return object.isLeased(nowMs);
    }

    /** What was replaced while its node was away is there for its readers until its node is told, or their leases end. */
    private boolean isReplacedOneLeased(Key key, long nowMs) {
        for (ObjectId id : index.remains().of(key)) {
            StoredObject replaced = index.object(id, key);
            if (replaced != null && replaced.isLeased(nowMs) && !replaced.isBeingFreed()) {
                return true;
            }
        }
        return false;
    }

    private void removed(Key key, Status result) {
        if (result == Status.OK) {
            counters.add(Count.REMOVED);
            recent.removed(key);
        }
    }

    /** @param meant what the request's pattern means */
    void removeAll(Asker asker, RemoveAllRequest request, KeyPattern meant, long nowMs) {
        long session = asker.session();
        KeyPattern reached = hasPoolAlone(asker) ? meant : meant.of(asker.tenant());
        if (reached.isEverything() && (request.force() || !index.isAnythingLeased(nowMs))) {
            purge(session, request, nowMs);
        } else {
            sweep(asker, request, reached, nowMs);
        }
    }

    /**
     * Whether no object is another tenant's. One number removes also what lies on nodes that are away; if tenants may be there, they
     * have to be in view to be spared. That is so for clients with certificates, and where one of a tenant has ever come.
     */
    private boolean hasPoolAlone(Asker asker) {
        if (asker.reach() == Asker.Reach.POOL) {
            return true;
        }
        boolean isAlone = asker.tenant().isDefault() && !index.holdsTenants() && !clients.isAnyOfTenantsHere();
        boolean wereTenants = asker.reach() != Asker.Reach.PLAIN || clients.areAnyOfTenants();
        return isAlone && (!wereTenants || members.isAllInView());
    }

    /** Everything goes, whatever it is: one number says so. Puts under way fail and begin again with a higher id. */
    private void purge(long session, RemoveAllRequest request, long nowMs) {
        int removed = index.publishedCount();
        PendingReply reply = replies.open(
                session,
                1,
                nowMs + Bounds.REMOVE_WAIT_MS,
                results -> answer(request, results.getFirst(), results.getFirst() == Status.OK ? removed : 0));
        publishes.endAll(Status.STALE_EPOCH);
        purges.purge(leadership.nextObjectId(), result -> {
            counters.add(Count.REMOVED, removed);
            recent.purged();
            reply.decide(0, result);
        });
    }

    /**
     * Everything that is meant goes, one object after the other; what somebody reads or replaces only by force. The answer is the first
     * reason why something stays that had to go. A node that has not told this leader what it holds may hold more of it: then what is
     * known goes, and the answer is UNAVAILABLE, as for a single key that is not found.
     */
    private void sweep(Asker asker, RemoveAllRequest request, KeyPattern meant, long nowMs) {
        boolean allHeard = members.unheard().isEmpty();
        Sweeps.Sweep sweep = new Sweeps.Sweep(asker.tenant(), leadership.nextObjectId(), meant, request.force());
        PendingReply reply = replies.open(
                asker.session(),
                1,
                nowMs + Bounds.REMOVE_WAIT_MS,
                results -> answer(
                        request,
                        results.getFirst() == Status.OK && !allHeard ? Status.UNAVAILABLE : results.getFirst(),
                        sweep.removed()));
        if (sweeps.isFull(asker.tenant())) {
            counters.add(Count.FULL_SWEEPS);
            reply.decide(0, Status.QUEUE_FULL);
            return;
        }
        sweeps.begin(sweep, reply);
    }

    private RemoveAllReply answer(RemoveAllRequest request, Status status, long removed) {
        counters.requests().answered(kindOf(request), 1, status);
        return new RemoveAllReply(request.requestId(), status, removed);
    }

    static Kind kindOf(RemoveAllRequest request) {
        return request.pattern().isEmpty() ? Kind.REMOVE_ALL : Kind.REMOVE_BY_REGEX;
    }

    private final class SweepVisitor implements Sweeps.Visitor {
        @Override
        public void visit(StoredObject object, Sweeps.Sweep sweep, long nowMs) {
            Key key = object.key();
            if (!sweep.force() && userObjection(key, object, false, nowMs) != Status.OK) {
                return;
            }
            if (removals.afterwards(key, () -> sweeps.again(key, sweep))) {
                sweep.removing();
                return;
            }
            Status objection = objection(key, object, sweep.force(), nowMs);
            if (objection != Status.OK) {
                sweep.stays(objection);
                return;
            }
            sweep.removing();
            removals.remove(key, object, nowMs, result -> {
                removed(key, result);
                sweep.removed(result);
            });
        }

        @Override
        public List<Key> underWay() {
            return removals.underWay();
        }

        @Override
        public boolean afterwards(Key key, Runnable task) {
            return removals.afterwards(key, task);
        }

        @Override
        public void await(Key key, Sweeps.Sweep sweep) {
            if (removals.await(key, sweep::awaited)) {
                sweep.removing();
            }
        }
    }

    void tick(long nowMs) {
        removals.tick(nowMs);
        sweeps.tick(nowMs);
    }

    void endTerm() {
        sweeps.clear();
        removals.endTerm();
    }
}
