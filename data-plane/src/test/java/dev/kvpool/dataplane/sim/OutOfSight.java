// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.Set;
import java.util.TreeSet;

/** Tells which keys go out of a master's sight in one tick, by eviction or with a node that is forgotten. */
final class OutOfSight {
    private static final int KEYS_SHOWN = 1000;

    private final SimMaster master;
    private final MasterCore core;
    private final MasterWatch watch;
    private final Set<String> keysBefore;
    private final PoolStatus before;
    private PoolStatus after;
    private boolean evicts;

    /** The tick begins. */
    OutOfSight(SimMaster master, MasterCore core, MasterWatch watch) {
        this.master = master;
        this.core = core;
        this.watch = watch;
        keysBefore = shownKeys();
        before = core.status();
    }

    void afterTick() {
        after = core.status();
        if (after.nodes().size() < before.nodes().size() && master.serves()) {
            watch.forgotten(goneOf(keysBefore));
        }
        evicts = counted(Count.EVICTED);
        if (evicts) {
            evicted(keysBefore);
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
        watch.evicted(master, gone, !counted(Count.EVICTED_UNMARKED));
    }

    private Set<String> goneOf(Set<String> shownBefore) {
        Set<String> gone = new TreeSet<>(shownBefore);
        gone.removeAll(shownKeys());
        return gone;
    }

    private Set<String> shownKeys() {
        Set<String> keys = new TreeSet<>();
        for (Tenant tenant : Plan.TENANTS) {
            core.keys(tenant, KEYS_SHOWN)
                    .forEach(key -> keys.add(tenant.qualify(Key.of(key)).toString()));
        }
        return keys;
    }

    private boolean counted(Count what) {
        return after.counters().get(what) != before.counters().get(what);
    }
}
