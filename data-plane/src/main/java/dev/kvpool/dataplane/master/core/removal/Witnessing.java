// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.removal;

import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.register.Absences;
import dev.kvpool.dataplane.master.core.register.RegisterKeeper;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * While nodes are behind: lets those catch up that have returned and dropped what they had missed, and keeps the number of witnesses
 * up, each of which has every tombstone before the register names it.
 */
public final class Witnessing {
    private static final long LOOK_MS = 100;

    private final RegisterKeeper register;
    private final Membership membership;
    private final Absences absences;
    private final TombstoneWriter tombstoneWriter;
    private long lookedMs = Long.MIN_VALUE;

    public Witnessing(View view, Orders orders, TombstoneWriter tombstoneWriter) {
        this.register = orders.register();
        this.membership = view.membership();
        this.absences = orders.absences();
        this.tombstoneWriter = tombstoneWriter;
    }

    public void tick(long nowMs) {
        if (absences.isNobodyBehind() || nowMs - LOOK_MS < lookedMs) {
            return;
        }
        lookedMs = nowMs;
        letCatchUp(nowMs);
        if (absences.knowsAll() && register.wanted().isAnyBehind()) {
            appoint();
        }
    }

    public void endTerm() {
        lookedMs = Long.MIN_VALUE;
    }

    private void letCatchUp(long nowMs) {
        Set<String> caughtUp = new TreeSet<>();
        for (String id : absences.returned()) {
            if (tombstoneWriter.isClean(membership.node(id), nowMs)) {
                caughtUp.add(id);
            }
        }
        if (!caughtUp.isEmpty()) {
            absences.caughtUp(caughtUp);
        }
    }

    /** One after the other: a witness that left, or lost its memory, is replaced. */
    private void appoint() {
        List<NodeView> inView = absences.witnessesInView();
        for (NodeView candidate : absences.candidates()) {
            if (inView.contains(candidate)) {
                continue;
            }
            if (tombstoneWriter.copyAllTo(candidate)) {
                register.change(it -> it.witnessed(candidate.id, candidate.memory()));
            }
            return;
        }
        dismissExcess(inView);
    }

    /** Nodes that leave, or were expected once, are relieved when others do it. */
    private void dismissExcess(List<NodeView> inView) {
        List<NodeView> best = absences.candidates();
        Set<String> excess = new TreeSet<>();
        for (NodeView witness : inView) {
            if (!best.contains(witness) && absences.rank(witness) > 1) {
                excess.add(witness.id);
            }
        }
        if (!excess.isEmpty() && inView.size() > excess.size()) {
            register.change(it -> it.struckOff(excess));
        }
    }
}
