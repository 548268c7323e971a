// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.removal;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Clients;
import dev.kvpool.dataplane.master.core.base.PendingReply;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.tenant.TenantShares;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * Removals of everything, or of what has keys of a pattern, object by object: a bounded number of them, which share a bounded number of
 * objects in one tick. They come to objects by their keys: the order of eviction is none of their concern, nor what is used meanwhile. Each
 * goes on only as long as its answer is waited for.
 */
public final class Sweeps {
    /** What to do with an object that the sweep has come to. */
    public interface Visitor {
        /** The sweep has come to an object; {@link #again} when something is in the way that will end. */
        void visit(StoredObject object, Sweep sweep, long nowMs);

        /** Keys that are being removed just now: a sweep does not come to their objects, which are there again if that fails. */
        List<Key> underWay();

        /** Runs something when what is under way at this key has ended; false when nothing is. */
        boolean afterwards(Key key, Runnable task);

        /** The sweep is to end no sooner than the removal of this key that is under way. */
        void await(Key key, Sweep sweep);
    }

    /** One removal of everything meant that is older than {@code below}, of what is leased only with {@code force}. */
    public static final class Sweep {
        private final Tenant tenant;
        private final ObjectId below;
        private final KeyPattern meant;
        private final boolean force;
        private PendingReply reply;
        private Index.Parts parts;

        /** Null until all parts have been come to. */
        private Iterator<Key> underWay;

        private boolean hasCome;
        private Status outcome = Status.OK;
        private long open;
        private long removed;

        /** @param tenant whose request it is */
        public Sweep(Tenant tenant, ObjectId below, KeyPattern meant, boolean force) {
            this.tenant = tenant;
            this.below = below;
            this.meant = meant;
            this.force = force;
        }

        public boolean force() {
            return force;
        }

        public long removed() {
            return removed;
        }

        public void removing() {
            open++;
        }

        public void removed(Status result) {
            removed += result == Status.OK ? 1 : 0;
            awaited(result);
        }

        /** A removal has ended that is not counted as one of this sweep's. */
        public void awaited(Status result) {
            open--;
            stays(result);
            answerWhenDone();
        }

        /** Something that was meant stays for this reason: the first one is the sweep's answer. */
        public void stays(Status reason) {
            outcome = outcome == Status.OK ? reason : outcome;
        }

        private boolean means(StoredObject object) {
            return below.isNewerThan(object.id()) && meant.matches(object.key());
        }

        private void answerWhenDone() {
            if (hasCome && open == 0) {
                reply.decide(0, outcome);
            }
        }

        private void end() {
            parts.end();
            hasCome = true;
            answerWhenDone();
        }
    }

    private final Index index;
    private final Visitor visitor;
    private final List<Sweep> sweeps = new ArrayList<>();
    private final TenantShares shares;
    private long nowMs;

    public Sweeps(Index index, Visitor visitor, Clients clients) {
        this.index = index;
        this.visitor = visitor;
        this.shares = new TenantShares(clients::areAnyOfTenants);
    }

    /** Whether there is no room for one more of this tenant. */
    public boolean isFull(Tenant tenant) {
        return !shares.hasRoom(tenant, 1, Bounds.SWEEPS_MAX);
    }

    /**
     * Begins to go through all objects.
     *
     * @param reply decided when everything has been come to and what could be removed is
     */
    public void begin(Sweep sweep, PendingReply reply) {
        sweep.reply = reply;
        sweep.parts = index.publishedParts(Optional.empty());
        sweeps.add(sweep);
        shares.add(sweep.tenant, 1);
    }

    public void tick(long now) {
        nowMs = now;
        int share = Bounds.SWEPT_PER_TICK / Math.max(1, sweeps.size());
        Iterator<Sweep> each = sweeps.iterator();
        while (each.hasNext()) {
            Sweep sweep = each.next();
            // Who has been told that it took too long, or has gone, must not find objects of a later time removed.
            if (sweep.reply.isOver() || goOn(sweep, share)) {
                each.remove();
                shares.add(sweep.tenant, -1);
                sweep.end();
            }
        }
    }

    /** Comes to so many objects; true when there are no more. */
    private boolean goOn(Sweep sweep, int visits) {
        int left = visits * Bounds.EMPTY_IS_SWEPT;
        while (left > 0 && !sweep.parts.isDone()) {
            left -= sweep.parts.skipEmpty(left);
            List<StoredObject> objects = left > 0 ? sweep.parts.nextObjects(1) : List.of();
            left -= objects.isEmpty() ? Bounds.EMPTY_IS_SWEPT : 0;
            for (StoredObject object : objects) {
                left -= sweep.meant.visits(object.key()) * Bounds.EMPTY_IS_SWEPT;
                visit(object, sweep);
            }
        }
        if (sweep.parts.isDone() && sweep.underWay == null) {
            sweep.underWay = visitor.underWay().iterator();
        }
        while (left > 0 && sweep.underWay != null) {
            if (!sweep.underWay.hasNext()) {
                return true;
            }
            Key key = sweep.underWay.next();
            left -= sweep.meant.visits(key) * Bounds.EMPTY_IS_SWEPT;
            if (sweep.meant.matches(key)) {
                visitor.await(key, sweep);
            }
        }
        return false;
    }

    private void visit(StoredObject object, Sweep sweep) {
        if (sweep.means(object)) {
            visitor.visit(object, sweep, nowMs);
        }
    }

    /** What was in the way of a sweep at a key has ended; it counts as a removal until then. */
    public void again(Key key, Sweep sweep) {
        StoredObject object = index.published(key);
        if (object != null && !sweep.reply.isOver()) {
            visit(object, sweep);
        }
        sweep.awaited(Status.OK);
    }

    /**
     * An object is there again whose removal has failed: a sweep may have passed by meanwhile, and comes to it when that has ended, unless
     * it was its own or something stays in any case.
     */
    public void takenBack(StoredObject object) {
        Key key = object.key();
        for (Sweep sweep : sweeps) {
            if (!sweep.means(object)) {
                continue;
            }
            if (visitor.afterwards(key, () -> takenBack(key, sweep))) {
                sweep.removing();
            } else {
                sweep.stays(Status.UNAVAILABLE);
            }
        }
    }

    private void takenBack(Key key, Sweep sweep) {
        if (sweep.outcome == Status.OK) {
            again(key, sweep);
        } else {
            sweep.awaited(Status.OK);
        }
    }

    /** Who waited has been answered. */
    public void clear() {
        sweeps.forEach(sweep -> sweep.parts.end());
        sweeps.clear();
        shares.clear();
    }
}
