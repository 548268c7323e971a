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
    }

    /** One removal of everything meant that is older than {@code below}, of what is leased only with {@code force}. */
    public static final class Sweep {
        private final ObjectId below;
        private final KeyPattern meant;
        private final boolean force;
        private PendingReply reply;
        private ObjectChain.Walk walk;
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

        public void removed(boolean really) {
            open--;
            removed += really ? 1 : 0;
            answerWhenDone();
        }

        private void answerWhenDone() {
            if (walk == null && open == 0) {
                reply.decide(0, Status.OK);
            }
        }

        private void endWalk() {
            walk.end();
            walk = null;
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
        sweep.walk = index.recency().fromFirst();
        sweeps.add(sweep);
    }

    public void tick(long nowMs) {
        int share = Bounds.SWEPT_PER_TICK / Math.max(1, sweeps.size());
        Iterator<Sweep> each = sweeps.iterator();
        while (each.hasNext()) {
            Sweep sweep = each.next();
            // Who has been told that it took too long, or has gone, must not find objects of a later time removed.
            if (sweep.reply.isOver() || goOn(sweep, share, nowMs)) {
                sweep.endWalk();
                each.remove();
                sweep.answerWhenDone();
            }
        }
    }

    /** Comes to so many objects; true when there are no more. */
    private boolean goOn(Sweep sweep, int visits, long nowMs) {
        int left = visits;
        while (left > 0) {
            StoredObject object = sweep.walk.next();
            if (object == null) {
                return true;
            }
            Key key = object.key();
            left -= sweep.meant.visits(key);
            if (sweep.below.isNewerThan(object.id()) && sweep.meant.matches(key)) {
                visitor.visit(object, sweep, nowMs);
            }
        }
        return false;
    }

    /** Who waited has been answered. */
    public void clear() {
        sweeps.forEach(Sweep::endWalk);
        sweeps.clear();
    }
}
