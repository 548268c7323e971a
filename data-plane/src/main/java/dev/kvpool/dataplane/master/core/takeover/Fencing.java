// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.takeover;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.base.PendingReplies;
import dev.kvpool.dataplane.master.core.command.Grants;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.liveness.LeaseLooks;
import dev.kvpool.dataplane.master.core.membership.NodesSetApart;
import dev.kvpool.dataplane.master.core.membership.NodesSetApart.Cause;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.register.Claims;
import dev.kvpool.dataplane.master.core.seal.GrantSeal;
import dev.kvpool.dataplane.master.core.seal.TermSecret;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.GrantSecret;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.NodeCommand.Fence;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.OptionalLong;

/** Has nodes obey this leader, and decides about those that know of an epoch which is not its own. */
public final class Fencing {
    private final CurrentRules rules;
    private final TermSecret termSecret;
    private final Leadership leadership;
    private final Claims claims;
    private final NodesSetApart setApart;
    private final Orders orders;
    private final Grants grants;
    private final PendingReplies replies;
    private final Counters counters;
    private final LeaseLooks looks;
    private final Outbox outbox;
    private boolean raising;

    /** From then on one node alone may make this leader raise its epoch. */
    private long loneRaiseMs = Long.MIN_VALUE;

    /** From then on it may be raised far. */
    private long farRaiseMs = Long.MIN_VALUE;

    private long farRestMs = Bounds.FAR_RAISE_REST_MS_MIN;

    Fencing(
            CurrentRules rules,
            Leadership leadership,
            View view,
            Orders orders,
            Grants grants,
            PendingReplies replies,
            Counters counters,
            LeaseLooks looks,
            Outbox outbox,
            TermSecret termSecret,
            Runnable whenPurged) {
        this.rules = rules;
        this.termSecret = termSecret;
        this.leadership = leadership;
        this.claims = new Claims(
                leadership, view.membership(), orders.members(), orders.register(), orders.tenantPurges(), whenPurged);
        this.setApart = view.membership().setApart();
        this.orders = orders;
        this.grants = grants;
        this.replies = replies;
        this.counters = counters;
        this.looks = looks;
        this.outbox = outbox;
    }

    public Claims claims() {
        return claims;
    }

    /** Whether a higher epoch is asked for: until it is there this leader decides nothing. */
    boolean isRaising() {
        return raising;
    }

    /** What nodes are told by this leader's grants from now on. */
    void beginTerm() {
        termSecret.begin();
    }

    void endTerm() {
        raising = false;
        termSecret.end();
    }

    /** Asks a node that has introduced itself to obey this leader. */
    public void fence(NodeView node, long nowMs) {
        Authority ours = leadership.authority();
        if (Claims.isAbove(node, ours)) {
            claimed(node, nowMs);
            return;
        }
        String objection = claims.objection(node, ours);
        if (!objection.isEmpty()) {
            refuse(node, objection);
        } else if (!raising) {
            long requestId = orders.nextRequestId();
            GrantSecret secret = termSecret.of(node.id);
            node.fenceSent(requestId, new GrantSeal(secret));
            outbox.send(
                    node.session(),
                    new Fence(
                            requestId,
                            ours,
                            rules.objectLeaseMs(),
                            orders.purges().storedId(),
                            secret));
            // One that has restarted must not take a grant that was over before.
            outbox.send(node.session(), new Heartbeat(0, oldestGrant()));
        }
    }

    /** A node has said what it speaks. One that is not believed is not kept until it connects again, when it would be refused. */
    public void toldVersions(NodeView node) {
        String objection = claims.objectionToVersions(node, leadership.authority());
        if (!objection.isEmpty()) {
            refuse(node, objection);
        }
    }

    ObjectId oldestGrant() {
        return leadership.phase() == Leadership.Phase.SERVING
                ? grants.oldest(leadership.objectIdToCome())
                : ObjectId.NONE;
    }

    /**
     * A node knows of an epoch that is not ours. Either this leader was deposed, and a look at the Lease tells; or the Lease was set
     * back, and most nodes tell; or the node is wrong. One alone may raise the epoch by a little, and seldom, so that nodes that have
     * heard of a Lease which is lost come in again by themselves.
     */
    public void claimed(NodeView node, long nowMs) {
        Authority ours = leadership.authority();
        if (raising) {
            return;
        }
        String impossible = Claims.objectionToEpoch(node, ours);
        if (!impossible.isEmpty()) {
            lookIfItMayKnow(node, nowMs);
            counters.add(Count.SET_APART_EPOCH);
            String reason = setApart.setApart(node.peer(), Cause.VIOLATION, impossible, nowMs);
            outbox.report("node %s is %s".formatted(node.id, reason));
            refuse(node, reason);
            return;
        }
        String why = "node %s obeys %s".formatted(node.id, node.seen());
        OptionalLong majoritys = claims.majoritysEpoch(ours);
        boolean nearby = claims.mayKnowLeases(node) && !isFar(node.highestEpoch(), ours);
        if (majoritys.isPresent() && (nowMs >= farRaiseMs || !isFar(majoritys.getAsLong(), ours))) {
            if (isFar(majoritys.getAsLong(), ours)) {
                farRaiseMs = nowMs + farRestMs;
                farRestMs = Math.min(2 * farRestMs, Bounds.FAR_RAISE_REST_MS_MAX);
            }
            raiseAbove(majoritys.getAsLong(), why);
        } else if (nearby && nowMs >= loneRaiseMs) {
            loneRaiseMs = nowMs + Bounds.LONE_RAISE_REST_MS;
            raiseAbove(node.highestEpoch(), why);
        } else {
            lookIfItMayKnow(node, nowMs);
            refuse(node, why + ", the Lease says " + ours + Claims.NOT_BELIEVED);
        }
    }

    private static boolean isFar(long epoch, Authority ours) {
        return Long.compareUnsigned(epoch, ours.epoch() + Bounds.LONE_RAISE_MAX) > 0;
    }

    private void lookIfItMayKnow(NodeView node, long nowMs) {
        if (claims.mayKnowLeases(node)) {
            looks.ask(nowMs);
        }
    }

    private void refuse(NodeView node, String why) {
        counters.add(Count.STREAM_VIOLATIONS);
        outbox.close(node.session(), why);
    }

    /** Stops answering until the Lease is held with a higher epoch. */
    void raiseAbove(long epoch, String why) {
        raising = true;
        counters.add(Count.EPOCH_RAISES);
        outbox.report("%s, this leader is %s: raising the epoch".formatted(why, leadership.authority()));
        leadership.recoverAgain();
        counters.add(Count.ROLE_CHANGES);
        replies.decideAll(Status.RECOVERING);
        outbox.raiseEpoch(Math.max(epoch, leadership.authority().epoch()));
    }
}
