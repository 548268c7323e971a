// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.takeover;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.base.PendingReplies;
import dev.kvpool.dataplane.master.core.base.ProtocolViolation;
import dev.kvpool.dataplane.master.core.command.Frees;
import dev.kvpool.dataplane.master.core.command.Grants;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeStream;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.Tombstones;
import dev.kvpool.dataplane.master.core.liveness.FirstNode;
import dev.kvpool.dataplane.master.core.liveness.LeaseLooks;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.reconciliation.Reconciliation;
import dev.kvpool.dataplane.master.core.reconciliation.Rounds;
import dev.kvpool.dataplane.master.core.register.Members;
import dev.kvpool.dataplane.master.core.register.RegisterKeeper;
import dev.kvpool.dataplane.master.core.seal.TermSecret;
import dev.kvpool.dataplane.master.core.upkeep.Upkeep;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.NodeMessage.FenceAck;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.List;

/** From holding the Lease to serving: fence the nodes, wait until the view holds what was committed before, decide. */
public final class Takeover {
    private final Leadership leadership;
    private final RegisterKeeper register;
    private final Fencing fencing;
    private final Membership membership;
    private final Members members;
    private final Index index;
    private final Grants grants;
    private final Orders orders;
    private final Frees frees;
    private final Reconciliation reconciliation;
    private final Tombstones tombstones;
    private final Rounds rounds;
    private final Upkeep upkeep;
    private final PendingReplies replies;
    private final Counters counters;
    private final Outbox outbox;
    private final FirstNode firstNode;

    private static final long NOT_YET = Long.MIN_VALUE;

    /** Since when nodes could have dialled this master. */
    private long listensSinceMs = NOT_YET;

    private long startedMs;
    private long predecessorUntilMs;
    private boolean warm;
    private long lastDurationMs;

    public Takeover(
            CurrentRules rules,
            Leadership leadership,
            View view,
            Orders orders,
            Grants grants,
            Reconciliation reconciliation,
            Upkeep upkeep,
            PendingReplies replies,
            Counters counters,
            LeaseLooks looks,
            Outbox outbox,
            TermSecret termSecret) {
        this.leadership = leadership;
        this.membership = view.membership();
        this.register = orders.register();
        this.fencing = new Fencing(
                rules, leadership, view, orders, grants, replies, counters, looks, outbox, termSecret, this::purgeTold);
        this.firstNode = new FirstNode(leadership, membership);
        this.members = orders.members();
        this.index = view.index();
        this.grants = grants;
        this.orders = orders;
        this.frees = orders.frees();
        this.reconciliation = reconciliation;
        this.tombstones = view.tombstones();
        this.rounds = new Rounds(index, frees, tombstones, reconciliation, this::joined);
        this.upkeep = upkeep;
        this.replies = replies;
        this.counters = counters;
        this.outbox = outbox;
    }

    public long lastDurationMs() {
        return lastDurationMs;
    }

    /** Below which this leader's grants are over; {@link ObjectId#NONE} while it does not serve. */
    public ObjectId oldestGrant() {
        return fencing.oldestGrant();
    }

    public FirstNode firstNode() {
        return firstNode;
    }

    /** Until when readers may rely on what was found; the distant past when this master does not lead. */
    public long recoveredUntilMs() {
        return leadership.leads() ? reconciliation.recoveredUntilMs() : Long.MIN_VALUE;
    }

    /** The Lease is ours with a new epoch, for the first time or raised. */
    public void begin(
            Authority authority, long validUntilMs, long predecessorLeadsUntilMs, Register taken, long nowMs) {
        dropOldTerm(Status.RECOVERING);
        leadership.recover(authority, validUntilMs);
        counters.add(Count.ROLE_CHANGES);
        fencing.beginTerm();
        boolean more = taken.purgeId().isNewerThan(register.wanted().purgeId());
        register.begin(taken);
        tombstones.beginTerm();
        members.begin();
        orders.absences().begin();
        if (more) {
            rounds.purgeSeen();
        }
        startedMs = nowMs;
        listensSinceMs = listensSinceMs == NOT_YET ? nowMs : listensSinceMs;
        predecessorUntilMs = predecessorLeadsUntilMs;
        warm = membership.isKnown() && !areEnginesToCome();
        outbox.report("leading with %s: %s start, %d of %d expected nodes known, %d objects in view"
                .formatted(
                        authority,
                        warm ? "warm" : "cold",
                        expectedSynced(),
                        membership.expected().size(),
                        index.size()));
        outbox.report(taken.toString());
        upkeep.objectLeases().begin(Math.max(startedMs, predecessorUntilMs));
        fenceAll(nowMs);
        serveWhenReady(nowMs);
    }

    private void fenceAll(long nowMs) {
        for (NodeView node : membership.all()) {
            if (node.info() != null) {
                fencing.fence(node, nowMs);
            }
        }
    }

    /** The nodes write down how long objects may be leased, before any is for longer than they know. */
    public void leasesGrow(long nowMs) {
        if (leadership.leads()) {
            fenceAll(nowMs);
        }
    }

    /** The Lease is no longer ours. */
    public void end(String reason) {
        if (leadership.leads()) {
            outbox.report("no longer leading with %s: %s".formatted(leadership.authority(), reason));
        }
        dropOldTerm(Status.NOT_LEADER);
        members.endTerm();
        leadership.standBy();
        counters.add(Count.ROLE_CHANGES);
    }

    private void dropOldTerm(Status toWhoeverWaits) {
        index.changes().endTerm();
        replies.decideAll(toWhoeverWaits);
        for (NodeView node : membership.all()) {
            frees.abandon(node);
            index.setUsable(node, false);
            upkeep.abandon(node);
            node.endTerm();
        }
        upkeep.endTerm();
        fencing.endTerm();
        if (register.wanted().purgeId().isNewerThan(register.stored().purgeId())) {
            index.takePurgeBack();
            rounds.purgeSeen();
        }
        register.endTerm();
        rounds.endTerm();
        frees.endTerm();
        grants.clear();
        index.serve(false, membership.all());
        index.reconsider();
    }

    public void fenceAnswered(NodeView node, FenceAck ack, long nowMs) throws ProtocolViolation {
        NodeStream.checkPosition(node, ack);
        node.saw(ack.seen());
        node.objectLeaseTold(ack.objectLeaseMaxMs());
        boolean current = leadership.leads() && ack.requestId() == node.fenceRequest();
        if (!current) {
            return;
        }
        if (!ack.accepted()) {
            fencing.claimed(node, nowMs);
            return;
        }
        node.obeys(leadership.authority());
        orders.purges().fenceAnswered(node, ack.purgeId());
        String objection = fencing.claims().objection(node, leadership.authority());
        if (!objection.isEmpty()) {
            throw new ProtocolViolation(objection);
        }
        admit(node, nowMs);
    }

    /** A node that obeys this leader and whose directory is known takes part, a transient one only if it is enrolled. */
    public void admit(NodeView node, long nowMs) {
        takeIn(node, nowMs);
        if (leadership.phase() == Leadership.Phase.RECOVERING) {
            serveWhenReady(nowMs);
        }
    }

    private void takeIn(NodeView node, long nowMs) {
        if (!isReady(node)) {
            return;
        }
        if (members.isSureOf(node)) {
            node.shownTo(leadership.authority());
        }
        if (node.usable() || node.joining() || !members.mayTakePart(node)) {
            return;
        }
        node.shownTo(leadership.authority());
        if (leadership.phase() == Leadership.Phase.SERVING) {
            if (node.replicaCount() > 0 && mayEnginesTell(nowMs)) {
                return;
            }
            leaseRecovered();
            rounds.join(node);
            rounds.tick(nowMs);
        } else {
            takesPart(node);
        }
    }

    private void takesPart(NodeView node) {
        index.setUsable(node, true);
        orders.absences().joined(node);
    }

    private boolean isReady(NodeView node) {
        return leadership.leads() && node.synced() && node.fencedBy().equals(leadership.authority());
    }

    /** A node that the register does not have takes part when it has dropped what it held. */
    private void admitEnrolled(long nowMs) {
        membership.all().forEach(node -> takeIn(node, nowMs));
    }

    /** All that a node shows has been decided about: it takes part beside the others. */
    private void joined(NodeView node, long nowMs) {
        if (!members.mayTakePart(node)) {
            return; // struck off meanwhile
        }
        takesPart(node);
        upkeep.joined(node, nowMs);
    }

    /** What is to be decided and counted after a takeover, or on a standby before one, goes on. */
    public void tick(long nowMs) {
        listensSinceMs = listensSinceMs == NOT_YET ? nowMs : listensSinceMs;
        firstNode.tick(nowMs - listensSinceMs);
        serveWhenReady(nowMs);
        if (leadership.phase() == Leadership.Phase.SERVING) {
            rounds.tick(nowMs);
        } else if (!leadership.leads()) {
            rounds.tickOnStandby(nowMs);
        }
        index.recount(Bounds.RECOUNTED_PER_TICK);
    }

    /** The register is this one now, as a master sees that does not lead. */
    public void registerSeen(Register seen) {
        boolean more = seen.purgeId().isNewerThan(register.wanted().purgeId());
        register.seen(seen);
        if (more && !leadership.leads()) {
            rounds.purgeSeen();
        }
    }

    private void purgeTold() {
        rounds.purgeSeen();
    }

    public Fencing fencing() {
        return fencing;
    }

    public void serveWhenReady(long nowMs) {
        admitEnrolled(nowMs);
        if (leadership.phase() != Leadership.Phase.RECOVERING || fencing.isRaising()) {
            return;
        }
        if (mayEnginesTell(nowMs)) {
            return;
        }
        List<String> missing = missing();
        boolean soon = nowMs - startedMs < Bounds.FENCE_WAIT_WARM_MS;
        if (!missing.isEmpty() && (soon || (!warm && isWorthWaiting(nowMs)))) {
            return;
        }
        if (index.highestEpoch() >= leadership.authority().epoch()) {
            // What this leader grants must be newer than whatever is there.
            fencing.raiseAbove(
                    index.highestEpoch(), "an object of epoch %d is in view".formatted(index.highestEpoch()));
            return;
        }
        leaseRecovered();
        if (rounds.decide(nowMs)) {
            serve(missing, nowMs);
        }
    }

    /**
     * Whether a master that starts cold should wait for more nodes. Those that are about to join have their time from the
     * Lease on. Those that have not come have it from when they could: a node that lives dials a master within seconds, so
     * one that is down does not hold up each new leader anew.
     */
    private boolean isWorthWaiting(long nowMs) {
        if (isAnyJoining() && nowMs - startedMs < Bounds.COLD_WAIT_MS) {
            return true;
        }
        return (!isEveryExpectedConnected() || areEnginesToCome()) && nowMs - listensSinceMs < Bounds.COLD_WAIT_MS;
    }

    /** A pool without storage nodes is what its engines hold: they are waited for in place of these. */
    private boolean areEnginesToCome() {
        return membership.expected().isEmpty() && !members.transientsToCome().isEmpty();
    }

    /**
     * The register was lost that had the engines, and maybe a removal of everything: as they are all that knows of it, they have the time
     * to come in which a node that lives dials a master.
     */
    private boolean mayEnginesTell(long nowMs) {
        return membership.expected().isEmpty()
                && register.wanted().open()
                && nowMs - listensSinceMs < Bounds.COLD_WAIT_MS;
    }

    private boolean isAnyJoining() {
        for (NodeView node : membership.all()) {
            if (isJoining(node)) {
                return true;
            }
        }
        return false;
    }

    private boolean isJoining(NodeView node) {
        return node.isConnected() && !node.usable() && (!isReady(node) || members.isBeingTakenUp(node));
    }

    private boolean isEveryExpectedConnected() {
        for (String id : membership.expected()) {
            NodeView node = membership.node(id);
            boolean mayCome = !membership.setApart().isSetApart(id);
            if (mayCome && (node == null || !node.isConnected())) {
                return false;
            }
        }
        return true;
    }

    /** Nodes whose commits before the fence may still be unknown. One that is known and not enrolled has none that count. */
    private List<String> missing() {
        List<String> missing = new ArrayList<>();
        for (NodeView node : membership.all()) {
            if (isJoining(node)) {
                missing.add(node.id);
            }
        }
        missing.addAll(members.transientsToCome());
        for (String id : membership.expected()) {
            NodeView node = membership.node(id);
            if (node == null || !node.isConnected()) {
                missing.add(id);
            }
        }
        return missing;
    }

    private void serve(List<String> missing, long nowMs) {
        leadership.serve();
        counters.add(Count.ROLE_CHANGES);
        index.serve(true, membership.all());
        rounds.serving();
        upkeep.serving(nowMs);
        rounds.tick(nowMs);
        lastDurationMs = nowMs - startedMs;
        counters.add(Count.TAKEOVERS);
        outbox.report("serving with %s after %d ms: %d objects published, %d of them unavailable, %d nodes, without %s"
                .formatted(
                        leadership.authority(),
                        lastDurationMs,
                        index.publishedCount(),
                        index.unavailableCount(),
                        membership.usable().size(),
                        missing.isEmpty() ? "none" : missing));
    }

    /**
     * Readers may hold promises of the leaders before: given until the last of them stopped, which may still lie ahead, and for
     * the longest object lease any of them used, which the register has.
     */
    private void leaseRecovered() {
        boolean takesOver = leadership.phase() == Leadership.Phase.RECOVERING;
        long leaseMs = upkeep.objectLeases().foundMs(takesOver);
        reconciliation.recoveredUntil(Math.max(startedMs, predecessorUntilMs) + leaseMs);
    }

    private int expectedSynced() {
        int synced = 0;
        for (String id : membership.expected()) {
            NodeView node = membership.node(id);
            synced += node != null && node.synced() ? 1 : 0;
        }
        return synced;
    }
}
