// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.replication;

import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.DrainStatus;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.reconciliation.Reconciliation;
import dev.kvpool.dataplane.master.core.register.ObjectLeases;
import dev.kvpool.dataplane.register.DrainEntry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Nodes that are to leave. A drained node takes nothing new; what only it holds is moved by {@link Repairs}; it may leave
 * when nothing is left that can be moved and no reader has a promise any more that names it. Whoever leads next goes on
 * with it, by what {@link DrainEntries} have written down.
 */
public final class Drains {
    private final ObjectLeases leases;
    private final Membership membership;
    private final Reconciliation reconciliation;
    private final Counters counters;
    private final Outbox outbox;
    private final Map<String, Drain> drains = new TreeMap<>();

    public Drains(
            ObjectLeases leases,
            Membership membership,
            Reconciliation reconciliation,
            Counters counters,
            Outbox outbox) {
        this.leases = leases;
        this.membership = membership;
        this.reconciliation = reconciliation;
        this.counters = counters;
        this.outbox = outbox;
    }

    /**
     * Begins, or begins anew, to empty a node. Answers why that is not possible, or nothing.
     *
     * @param clears whether nothing is to be left there, not even what others have too
     * @param startedAtMs what people shall be told as the time it began
     */
    public Optional<String> start(String id, boolean clears, long timeoutMs, long startedAtMs, long nowMs) {
        NodeView node = membership.node(id);
        if (node == null || !node.usable()) {
            return Optional.of("node " + id + " does not take part now, so nothing can be copied from it");
        }
        if (node.isTransient()) {
            return Optional.of("node " + id + " is transient: its memory goes with its process");
        }
        Drain drain = new Drain(id, node.peer().incarnation(), startedAtMs, nowMs + timeoutMs, clears);
        hold(drain, nowMs);
        outbox.report("draining node %s with %d objects, %d ms at most".formatted(id, node.replicaCount(), timeoutMs));
        return Optional.empty();
    }

    /** Goes on with what another leader has begun. */
    void found(String id, DrainEntry entry, long nowMs) {
        Drain drain = Drain.resumed(id, entry, nowMs);
        hold(drain, nowMs);
        outbox.report("draining node %s goes on as another leader has begun it, %d ms at most: %d objects moved so far"
                .formatted(id, entry.leftMs(), entry.objectsMoved()));
        NodeView node = membership.node(id);
        if (node != null && node.isConnected() && node.info() != null) {
            introduced(node);
        }
    }

    private void hold(Drain drain, long nowMs) {
        drain.namedUntilMs = Math.max(leases.latestEndMs(nowMs), reconciliation.recoveredUntilMs());
        drains.put(drain.node, drain);
        NodeView node = membership.node(drain.node);
        if (node != null) {
            drain.notLookedAt(node);
            node.leaves(true);
        }
    }

    /** The node takes part again as before. False when it is not being drained. */
    public boolean cancel(String id) {
        Drain drain = drains.get(id);
        if (drain == null || !drain.isHolding()) {
            return false;
        }
        end(drain, DrainStatus.State.CANCELLED);
        stay(drain);
        return true;
    }

    /** Whether objects have to be moved. */
    boolean isActive() {
        for (Drain drain : drains.values()) {
            if (drain.isActive() && !drain.isPast()) {
                return true;
            }
        }
        return false;
    }

    Collection<Drain> all() {
        return drains.values();
    }

    public Optional<DrainStatus.State> stateOf(NodeView node) {
        Drain drain = node.leaving() ? drains.get(node.id) : null;
        return drain == null ? Optional.empty() : Optional.of(drain.state());
    }

    /** A node came back, if as another process, what was drained has left. */
    public void introduced(NodeView node) {
        Drain drain = drains.get(node.id);
        if (drain == null || drain.isPast()) {
            return;
        }
        if (!drain.isActive() && drain.incarnation != node.peer().incarnation()) {
            drain.pass();
            stay(drain);
        } else {
            node.leaves(drain.isHolding());
        }
    }

    // ---- told by the pass over all objects ------------------------------------------------------------------------

    void passBegins() {
        drains.values().forEach(Drain::passBegins);
    }

    /** An object has no replica but this one, which is on a leaving node; nothing happens when it is null. */
    void left(Replica replica, String why) {
        Drain drain = replica == null ? null : drains.get(replica.node().id);
        if (drain != null) {
            drain.isLeft(replica.node().tier(replica.extent().segment()), why, replica.extentBytes());
        }
    }

    void moved(String source, long bytes) {
        Drain drain = drains.get(source);
        if (drain != null && drain.isActive()) {
            drain.moved(bytes);
            counters.add(Count.DRAINED);
            counters.add(Count.DRAINED_BYTES, bytes);
        }
    }

    void passEnded(long nowMs) {
        for (Drain drain : drains.values()) {
            if (drain.passEnded() && drain.isActive()) {
                decide(drain, nowMs);
            }
        }
    }

    private void decide(Drain drain, long nowMs) {
        NodeView node = membership.node(drain.node);
        boolean cleared = !drain.clears || (node != null && node.usable() && node.replicaCount() == 0);
        if (mayLeave(drain, node, nowMs) && cleared) {
            end(drain, DrainStatus.State.DRAINED);
        }
    }

    private static boolean mayLeave(Drain drain, NodeView node, long nowMs) {
        boolean beingWritten = node != null && node.room.grantedSlots() > 0;
        boolean named = nowMs < drain.namedUntilMs || (node != null && nowMs < node.namedUntilMs());
        return !drain.isAnythingLeft() && !named && !beingWritten;
    }

    /** Whether what the node has can be freed if another one that stays has it too. */
    boolean isBeingCleared(NodeView node, long nowMs) {
        Drain drain = node.leaving() ? drains.get(node.id) : null;
        return drain != null && drain.clears && drain.isActive() && mayLeave(drain, node, nowMs);
    }

    public void tick(long nowMs) {
        for (Drain drain : drains.values()) {
            if (drain.isActive() && nowMs >= drain.untilMs) {
                end(drain, DrainStatus.State.TIMED_OUT);
            }
        }
    }

    public void endTerm() {
        drains.values().forEach(this::stay);
        drains.clear();
    }

    private void end(Drain drain, DrainStatus.State state) {
        drain.become(state);
        DrainStatus status = drain.status();
        outbox.report("drain of node %s %s: %d objects moved, %d left"
                .formatted(
                        drain.node,
                        state.name().toLowerCase(Locale.ROOT).replace('_', ' '),
                        status.objectsMoved(),
                        status.objectsLeft()));
    }

    private void stay(Drain drain) {
        NodeView node = membership.node(drain.node);
        if (node != null) {
            node.leaves(false);
        }
    }

    public List<DrainStatus> status() {
        List<DrainStatus> status = new ArrayList<>();
        for (Drain drain : drains.values()) {
            if (!drain.isPast()) {
                status.add(drain.status());
            }
        }
        return status;
    }
}
