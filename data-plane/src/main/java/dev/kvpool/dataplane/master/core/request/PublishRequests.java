// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.request;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.PendingReplies;
import dev.kvpool.dataplane.master.core.base.PendingReply;
import dev.kvpool.dataplane.master.core.command.Grant;
import dev.kvpool.dataplane.master.core.command.Grant.PublishWait;
import dev.kvpool.dataplane.master.core.command.Grants;
import dev.kvpool.dataplane.master.core.count.RequestCounts;
import dev.kvpool.dataplane.master.core.count.RequestCounts.Kind;
import dev.kvpool.dataplane.master.core.eviction.WantedRoom;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Standings;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.reconciliation.Reconciliation;
import dev.kvpool.dataplane.master.core.removal.Replacements;
import dev.kvpool.dataplane.wire.message.ClientReply.PublishReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.Put;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.PutOutcome;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Makes written objects readable. A client is told so only when the record of each node it named has arrived in that node's
 * stream: from then on the object is found here, and by any leader after this one in the node's own directory.
 */
public final class PublishRequests {
    private final Index index;
    private final Grants grants;
    private final Reconciliation reconciliation;
    private final Replacements replacements;
    private final Standings standings;
    private final WantedRoom wantedRoom;
    private final PendingReplies replies;
    private final Counters counters;
    private final Set<Grant> waiting = new LinkedHashSet<>();

    PublishRequests(
            View view,
            Grants grants,
            Reconciliation reconciliation,
            Replacements replacements,
            Standings standings,
            WantedRoom wantedRoom,
            PendingReplies replies,
            Counters counters) {
        this.index = view.index();
        this.grants = grants;
        this.reconciliation = reconciliation;
        this.replacements = replacements;
        this.standings = standings;
        this.wantedRoom = wantedRoom;
        this.replies = replies;
        this.counters = counters;
    }

    void publish(long session, PublishRequest request, long nowMs) {
        PendingReply reply =
                replies.open(session, request.puts().size(), nowMs + 2 * Bounds.PUBLISH_WAIT_MS, results -> {
                    answered(counters.requests(), request, results);
                    return new PublishReply(request.requestId(), Status.OK, results);
                });
        // In the order of a prompt, as reads are: the first comes last, and what stands late goes first.
        for (int line = request.puts().size() - 1; line >= 0; line--) {
            publish(reply, line, request.puts().get(line), nowMs);
        }
        index.endPrompt();
        reply.sendWhenComplete();
    }

    /** One request is two here: of what was written, and of what was not. */
    static void answered(RequestCounts counts, PublishRequest request, List<Status> results) {
        List<Status> ended = new ArrayList<>(results.size());
        List<Status> revoked = new ArrayList<>();
        for (int line = 0; line < results.size(); line++) {
            boolean written = request.puts().get(line).outcome() == PutOutcome.WRITTEN;
            (written ? ended : revoked).add(results.get(line));
        }
        counts.answered(Kind.PUT_END, ended, Function.identity());
        counts.answered(Kind.PUT_REVOKE, revoked, Function.identity());
    }

    private void publish(PendingReply reply, int line, Put put, long nowMs) {
        StoredObject present = index.published(put.key());
        if (present != null && present.id().equals(put.objectId())) {
            settle(reply, line, present, Status.OK, nowMs);
            return;
        }
        Grant grant = grants.byId(put.objectId());
        if (grant == null || !grant.key.equals(put.key())) {
            if (present != null && present.id().isNewerThan(put.objectId())) {
                settle(reply, line, present, Status.EXISTS, nowMs);
            } else {
                // The grant ended: the epoch or the deadline has passed.
                reply.decide(line, Status.STALE_EPOCH);
            }
            return;
        }
        judgeTargets(grant, put, nowMs);
        switch (put.outcome()) {
            case WRITTEN -> {
                grant.waits.add(new PublishWait(reply, line, incarnations(put), nowMs + Bounds.PUBLISH_WAIT_MS));
                waiting.add(grant);
                check(grant, nowMs);
            }
            case NO_SPACE -> {
                Tenant tenant = Tenant.of(grant.key);
                List<NodeView> full = grant.targets.stream()
                        .filter(node -> standings.hadNoPlace(node, tenant, grant.extentBytes, nowMs))
                        .toList();
                giveBack(grant, Count.PUTS_NO_SPACE, nowMs); // before: it counts against the ceiling
                full.forEach(node -> wantedRoom.want(node, tenant, grant.extentBytes));
                reply.decide(line, Status.OK);
            }
            case FAILED, NULL_VAL -> {
                giveBack(grant, Count.PUTS_FAILED, nowMs);
                reply.decide(line, Status.OK);
            }
        }
    }

    /** Where a client names more than an object can have, looking through them must not cost more than it costs him. */
    private static Collection<Long> incarnations(Put put) {
        return put.incarnations().size() <= Bounds.REPLICAS_MAX ? put.incarnations() : Set.copyOf(put.incarnations());
    }

    /** A target that did not commit could not be reached, or broke off, unless it just had no room. */
    private void judgeTargets(Grant grant, Put put, long nowMs) {
        if (put.outcome() == PutOutcome.NO_SPACE) {
            return;
        }
        for (NodeView node : grant.targets) {
            boolean committed = node.isConnected()
                    && put.incarnations().contains(node.peer().incarnation());
            boolean hadRoom = node.stats() == null || node.stats().largestFreeBytes() >= grant.extentBytes;
            if (!committed && hadRoom) {
                standings.writeFailed(node, Tenant.of(grant.key), nowMs);
            }
        }
    }

    /** What is published need not be settled: whoever put it may have been told that nobody could be told what it replaced. */
    private void settle(PendingReply reply, int line, StoredObject present, Status result, long nowMs) {
        replacements.settle(
                present.key(),
                present.id(),
                nowMs,
                status -> reply.decide(line, status == Status.OK ? result : status));
    }

    private void giveBack(Grant grant, Count outcome, long nowMs) {
        end(grant, Status.STALE_EPOCH);
        reconciliation.giveUpLeftOver(grant.id, grant.key, nowMs);
        counters.add(outcome);
    }

    /** A node shows an object of this epoch. */
    public void committed(NodeView node, StoredObject object, long nowMs) {
        Grant grant = grants.byId(object.id());
        if (grant != null && object.hasKey(grant.key)) {
            grant.release(node);
            check(grant, nowMs);
            index.endPrompt(); // what comes before it in its prompt may have come already
        }
    }

    /** A node's connection ended: nobody waits for it any longer. */
    public void disconnected(long nowMs) {
        checkAll(nowMs);
    }

    void tick(long nowMs) {
        checkAll(nowMs);
        for (Grant overdue : grants.endOverdue(nowMs)) {
            counters.add(Count.GRANTS_EXPIRED);
            end(overdue, Status.UNAVAILABLE);
            reconciliation.giveUpLeftOver(overdue.id, overdue.key, nowMs);
        }
    }

    /** Ends every grant; whoever waits, or comes later, has to ask for a new one. */
    void endAll(Status result) {
        for (Grant grant : List.copyOf(grants.all())) {
            end(grant, result);
        }
    }

    /** The grants of an ended term are dead; whoever waited has been answered. */
    void clear() {
        waiting.clear();
    }

    private void checkAll(long nowMs) {
        for (Grant grant : new ArrayList<>(waiting)) {
            check(grant, nowMs);
            index.endPrompt();
        }
    }

    private void check(Grant grant, long nowMs) {
        if (grant.waits.isEmpty()) {
            return; // as a rule the node's record comes before its writer's word
        }
        StoredObject object = index.object(grant.id, grant.key);
        boolean seen = object != null && object.fate() == StoredObject.Fate.UNSETTLED && object.isAvailable();
        for (PublishWait wait : grant.waits) {
            if (nowMs < wait.untilMs() && isAwaited(grant, wait, object)) {
                continue;
            }
            if (seen) {
                publish(object, grant, nowMs);
            } else {
                counters.add(Count.PUTS_FAILED);
                end(grant, Status.UNAVAILABLE);
                reconciliation.giveUpLeftOver(grant.id, grant.key, nowMs);
            }
            return;
        }
    }

    private void publish(StoredObject object, Grant grant, long nowMs) {
        reconciliation.publishGranted(object, grant, nowMs);
        counters.add(Count.PUTS);
        counters.sizes().add(object.payloadLength());
        List<PublishWait> waits = List.copyOf(grant.waits);
        grant.waits.clear();
        // Before the grant ends: a copy of this object that is still to come is not one that it replaced.
        replacements.settle(
                grant.key,
                grant.id,
                nowMs,
                status -> waits.forEach(it -> it.reply().decide(it.line(), status)));
        end(grant, Status.OK);
    }

    /** Whether a target that the client named is connected and its record, or its whole directory, has not come yet. */
    private static boolean isAwaited(Grant grant, PublishWait wait, StoredObject object) {
        for (NodeView node : grant.targets) {
            boolean named = node.isConnected()
                    && wait.incarnations().contains(node.peer().incarnation());
            if (named && (object == null || !node.usable() || !object.isOn(node))) {
                return true;
            }
        }
        return false;
    }

    private void end(Grant grant, Status result) {
        grants.end(grant);
        waiting.remove(grant);
        for (PublishWait wait : grant.waits) {
            wait.reply().decide(wait.line(), result);
        }
        grant.waits.clear();
    }
}
