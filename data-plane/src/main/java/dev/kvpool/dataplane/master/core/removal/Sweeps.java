// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.removal;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.PendingReply;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.ObjectChain;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Removals of everything, or of what has keys of a pattern, object by object: a bounded number of them, which share a bounded number of objects in one tick. Each
 * comes to an object once, and goes on only as long as somebody waits for its answer.
 */
public final class Sweeps {
    /** What to do with an object that the sweep has come to. */
    public interface Visitor {
        void visit(StoredObject object, Sweep sweep, long nowMs);

        /** Keys that are being removed just now: a sweep does not come to their objects, which are there again if that fails. */
        List<Key> underWay();

        /** The sweep is to end no sooner than the removal of this key that is under way. */
        void await(Key key, Sweep sweep);
    }

    /** One removal of everything meant that is older than {@code below}, of what is leased only with {@code force}. */
    public static final class Sweep {
        private final ObjectId below;
        private final KeyPattern meant;
        private final boolean force;
        private PendingReply reply;
        private ObjectChain.Walk walk;

        /** Null until the walk is over. */
        private Iterator<Key> underWay;

        private boolean hasCome;
        private Status outcome = Status.OK;
        private long open;
        private long removed;

        public Sweep(ObjectId below, KeyPattern meant, boolean force) {
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

        private void answerWhenDone() {
            if (hasCome && open == 0) {
                reply.decide(0, outcome);
            }
        }

        private void end() {
            walk.end();
            hasCome = true;
            answerWhenDone();
        }
    }

    private final Index index;
    private final Visitor visitor;
    private final List<Sweep> sweeps = new ArrayList<>();

    public Sweeps(Index index, Visitor visitor) {
        this.index = index;
        this.visitor = visitor;
    }

    public boolean isFull() {
        return sweeps.size() >= Bounds.SWEEPS_MAX;
    }

    /**
     * Begins to go through all objects.
     *
     * @param reply decided when everything has been come to and what could be removed is
     */
    public void begin(Sweep sweep, PendingReply reply) {
        sweep.reply = reply;
        sweep.walk = index.recency().throughAll();
        sweeps.add(sweep);
    }

    public void tick(long nowMs) {
        int share = Bounds.SWEPT_PER_TICK / Math.max(1, sweeps.size());
        Iterator<Sweep> each = sweeps.iterator();
        while (each.hasNext()) {
            Sweep sweep = each.next();
            // Who has been told that it took too long, or has gone, must not find objects of a later time removed.
            if (sweep.reply.isOver() || goOn(sweep, share, nowMs)) {
                each.remove();
                sweep.end();
            }
        }
    }

    /** Comes to so many objects; true when there are no more. What others were removing that failed is at the end of the walk. */
    private boolean goOn(Sweep sweep, int visits, long nowMs) {
        int left = visits;
        while (left > 0 && sweep.underWay == null) {
            StoredObject object = sweep.walk.next();
            if (object == null) {
                sweep.underWay = visitor.underWay().iterator();
                break;
            }
            Key key = object.key();
            left -= sweep.meant.visits(key);
            if (sweep.below.isNewerThan(object.id()) && sweep.meant.matches(key)) {
                visitor.visit(object, sweep, nowMs);
            }
        }
        while (left > 0 && sweep.underWay != null) {
            if (!sweep.underWay.hasNext()) {
                return true;
            }
            Key key = sweep.underWay.next();
            left -= sweep.meant.visits(key);
            if (sweep.meant.matches(key)) {
                visitor.await(key, sweep);
            }
        }
        return false;
    }

    /** Who waited has been answered. */
    public void clear() {
        sweeps.forEach(sweep -> sweep.walk.end());
        sweeps.clear();
    }
}
