// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Tells which keys go out of a master's sight in one tick, by eviction or with a node that is forgotten. There are so many ticks that
 * each asks its core for what it needs and no more.
 */
final class OutOfSight {
    private static final int KEYS_SHOWN = 1000;

    private final SimMaster master;
    private final MasterCore core;
    private final MasterWatch watch;
    private final boolean forgets;

    private long unmarked;
    private Set<String> keysBefore = Set.of();
    private int nodesBefore;
    private Set<String> evicted = Set.of();
    private boolean marked;

    /** @param forgets whether there are nodes that a leader may forget */
    OutOfSight(SimMaster master, MasterCore core, MasterWatch watch, boolean forgets) {
        this.master = master;
        this.core = core;
        this.watch = watch;
        this.forgets = forgets;
    }

    boolean isOf(MasterCore other) {
        return core == other;
    }

    void beforeTick() {
        PoolStatus status = core.status();
        unmarked = unmarked(status);
        nodesBefore = status.nodes().size();
        if (forgets) {
            keysBefore = shownKeys();
        }
    }

    /** @param actions what the tick has brought */
    void afterTick(List<Action> actions) {
        if (forgets && core.status().nodes().size() < nodesBefore && master.serves()) {
            Set<String> gone = new TreeSet<>(keysBefore);
            gone.removeAll(shownKeys());
            watch.forgotten(gone);
        }
        evicted = evicted(actions);
        if (!evicted.isEmpty()) {
            marked = unmarked == unmarked(core.status());
            master.world.trace(() -> master + " evicts " + evicted);
            watch.evicted(master, evicted, marked);
        }
    }

    /** @param published keys that were published meanwhile: an object may be published late and evicted in the same tick */
    void afterActions(Set<String> published) {
        Set<String> late = new TreeSet<>(evicted);
        late.retainAll(published);
        late.removeIf(master::shows);
        if (!late.isEmpty()) {
            watch.evicted(master, late, marked);
        }
    }

    private Set<String> evicted(List<Action> actions) {
        Set<String> keys = new TreeSet<>();
        for (Action action : actions) {
            if (action instanceof Action.Evicted it && !master.shows(it.key().toString())) {
                keys.add(it.key().toString());
            }
        }
        return keys;
    }

    private static long unmarked(PoolStatus status) {
        return status.counters().get(Count.EVICTED_UNMARKED);
    }

    private Set<String> shownKeys() {
        Set<String> keys = new HashSet<>();
        for (Tenant tenant : Plan.TENANTS) {
            core.keys(tenant, KEYS_SHOWN)
                    .forEach(key -> keys.add(tenant.qualify(Key.of(key)).toString()));
        }
        return keys;
    }
}
