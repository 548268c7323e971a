// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Removals of everything, object by object: a bounded number of objects in one tick, each object once. */
final class Sweeps {
    /** What to do with an object that the sweep has come to. */
    interface Visitor {
        void visit(StoredObject object, Sweep sweep, long nowMs);
    }

    /** One removal of everything older than {@code below}. */
    static final class Sweep {
        private final ObjectId below;
        private Runnable whenDone;
        private ObjectChain.Walk walk;
        private long open;
        private long removed;

        Sweep(ObjectId below) {
            this.below = below;
        }

        long removed() {
            return removed;
        }

        void removing() {
            open++;
        }

        void removed(boolean really) {
            open--;
            removed += really ? 1 : 0;
            endWhenDone();
        }

        private void endWhenDone() {
            if (walk == null && open == 0) {
                whenDone.run();
            }
        }
    }

    private final Index index;
    private final Visitor visitor;
    private final List<Sweep> sweeps = new ArrayList<>();

    Sweeps(Index index, Visitor visitor) {
        this.index = index;
        this.visitor = visitor;
    }

    void begin(Sweep sweep, Runnable whenDone) {
        sweep.whenDone = whenDone;
        sweep.walk = index.recency().fromFirst();
        sweeps.add(sweep);
    }

    void tick(long nowMs) {
        Iterator<Sweep> each = sweeps.iterator();
        while (each.hasNext()) {
            Sweep sweep = each.next();
            for (int i = 0; i < Bounds.SWEPT_PER_TICK && sweep.walk != null; i++) {
                StoredObject object = sweep.walk.next();
                if (object == null) {
                    sweep.walk.end();
                    sweep.walk = null;
                } else if (sweep.below.isNewerThan(object.id())) {
                    visitor.visit(object, sweep, nowMs);
                }
            }
            if (sweep.walk == null) {
                each.remove();
                sweep.endWhenDone();
            }
        }
    }

    /** Who waited has been answered. */
    void clear() {
        sweeps.forEach(sweep -> sweep.walk.end());
        sweeps.clear();
    }
}
