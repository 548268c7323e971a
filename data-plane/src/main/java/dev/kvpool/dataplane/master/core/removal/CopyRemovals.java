// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.removal;

import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.command.Frees;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.register.Absences;
import dev.kvpool.dataplane.master.core.replication.CopyTasks;
import dev.kvpool.nativelib.Status;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Takes the copy in the memory of one node from an object that keeps another. The object stays, so nothing is written down: a leader
 * that finds the copy again, as its node was not told in time, finds one copy more of what is there anyway.
 */
public final class CopyRemovals {
    private final Membership membership;
    private final Index index;
    private final Frees frees;
    private final Absences absences;
    private final CopyTasks tasks;
    private final Counters counters;

    public CopyRemovals(View view, Orders orders, CopyTasks tasks, Counters counters) {
        this.membership = view.membership();
        this.index = view.index();
        this.frees = orders.frees();
        this.absences = orders.absences();
        this.tasks = tasks;
        this.counters = counters;
    }

    /** What the object has in the memory of a node, as clients name that; null when there is nothing that a reader may use. */
    public Replica find(StoredObject object, String name) {
        NodeView node = membership.named(name);
        Replica copy = node == null ? null : object.inMemoryOf(node);
        return copy == null || !node.usable() || copy.isFreeing() ? null : copy;
    }

    /**
     * Why a copy cannot be removed alone, OK when it can: while copies of the object are being made they are counted on, and a reader
     * must be able to use another one.
     */
    public Status objection(Replica copy) {
        StoredObject object = copy.object();
        if (tasks.decidesAbout(object)) {
            return Status.BUSY;
        }
        boolean isKept = staysOnSsd(copy) || !others(copy).isEmpty();
        return isKept && absences.mayRead(object) ? Status.OK : Status.UNAVAILABLE;
    }

    /** Removes what {@link #objection} has nothing against. This leader does not replace it. */
    public void remove(Replica copy, Consumer<Status> whenTold) {
        StoredObject object = copy.object();
        index.wantAtMost(object, others(copy).size() + (staysOnSsd(copy) ? 1 : 0));
        counters.add(Count.TRIMMED);
        frees.trim(List.of(copy), new Frees.Removal(freed -> whenTold.accept(freed ? Status.OK : Status.UNAVAILABLE)));
    }

    private static boolean staysOnSsd(Replica copy) {
        Replica onSsd = copy.object().onSsdOf(copy.node());
        return onSsd != null && !onSsd.isFreeing();
    }

    /** Other nodes that a reader may be sent to. */
    private static Set<NodeView> others(Replica copy) {
        Set<NodeView> nodes = new HashSet<>();
        for (Replica replica : copy.object().replicas()) {
            if (replica.node() != copy.node() && replica.node().usable() && !replica.isFreeing()) {
                nodes.add(replica.node());
            }
        }
        return nodes;
    }
}
