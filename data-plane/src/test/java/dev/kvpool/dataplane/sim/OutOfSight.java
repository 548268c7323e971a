// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import java.util.Set;
import java.util.TreeSet;

/** Tells which keys go out of a master's sight in one tick, by eviction or with a node that is forgotten. */
final class OutOfSight {
    private static final int KEYS_SHOWN = 1000;

    private final SimMaster master;
    private final MasterCore core;
    private final MasterWatch watch;
    private final Set<String> before;
    private final long evictedBefore;
    private final long unmarkedBefore;
    private final int nodesBefore;
    private boolean evicts;

    /** The tick begins. */
    OutOfSight(SimMaster master, MasterCore core, MasterWatch watch) {
        this.master = master;
        this.core = core;
        this.watch = watch;
        before = shownKeys();
        evictedBefore = count(Count.EVICTED);
        unmarkedBefore = count(Count.EVICTED_UNMARKED);
        nodesBefore = core.status().nodes().size();
    }

    void afterTick() {
        if (core.status().nodes().size() < nodesBefore && master.serves()) {
            watch.forgotten(goneOf(before));
        }
        evicts = count(Count.EVICTED) != evictedBefore;
        if (evicts) {
            evicted(before);
        }
    }

    /** @param published keys that were published meanwhile: an object may be published late and evicted in the same tick */
    void afterActions(Set<String> published) {
        if (evicts) {
            evicted(published);
        }
    }

    private void evicted(Set<String> shownBefore) {
        Set<String> gone = goneOf(shownBefore);
        master.world.trace(() -> master + " evicts " + gone);
        boolean marked = count(Count.EVICTED_UNMARKED) == unmarkedBefore;
        watch.evicted(master, gone, marked);
    }

    private Set<String> goneOf(Set<String> shownBefore) {
        Set<String> gone = new TreeSet<>(shownBefore);
        gone.removeAll(shownKeys());
        return gone;
    }

    private Set<String> shownKeys() {
        return new TreeSet<>(core.keys(KEYS_SHOWN));
    }

    private long count(Count what) {
        return core.status().counters().get(what);
    }
}
