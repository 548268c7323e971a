// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.request;

import dev.kvpool.dataplane.master.core.base.Asker;
import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Clients;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.base.PendingReplies;
import dev.kvpool.dataplane.master.core.command.Grants;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.count.RequestCounts;
import dev.kvpool.dataplane.master.core.count.RequestCounts.Kind;
import dev.kvpool.dataplane.master.core.eviction.WantedRoom;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.plan.NodeName;
import dev.kvpool.dataplane.master.core.reconciliation.Reconciliation;
import dev.kvpool.dataplane.master.core.removal.CopyRemovals;
import dev.kvpool.dataplane.master.core.removal.KeyPattern;
import dev.kvpool.dataplane.master.core.removal.Removals;
import dev.kvpool.dataplane.master.core.removal.Replacements;
import dev.kvpool.dataplane.master.core.tenant.TenantReads;
import dev.kvpool.dataplane.master.core.upkeep.Upkeep;
import dev.kvpool.dataplane.wire.message.ClientReply;
import dev.kvpool.dataplane.wire.message.ClientReply.Existence;
import dev.kvpool.dataplane.wire.message.ClientReply.ExistsReply;
import dev.kvpool.dataplane.wire.message.ClientReply.Found;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantLine;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.HintReply;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientReply.PublishReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.ClientReply.TaskReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.CopyRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.HintRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.TaskQuery;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import java.util.Collections;
import java.util.List;
import java.util.random.RandomGenerator;

/** Sends each client request to whoever answers it, or says at once why it is not answered here and now. */
public final class ClientRequests {
    private final Leadership leadership;
    private final GrantRequests granting;
    private final PublishRequests publishes;
    private final ReadRequests reads;
    private final RemoveRequests removes;
    private final HintRequests hints;
    private final TaskRequests tasks;
    private final Upkeep upkeep;
    private final PendingReplies replies;
    private final Counters counters;
    private final RequestCounts counts;
    private final Outbox outbox;
    private final LeaderQuestions leaderQuestions;
    private final TenantReads tenantReads = new TenantReads();

    public ClientRequests(
            CurrentRules rules,
            Leadership leadership,
            View view,
            Orders orders,
            Grants grants,
            Clients clients,
            Reconciliation reconciliation,
            Upkeep upkeep,
            PendingReplies replies,
            Counters counters,
            Outbox outbox,
            RandomGenerator random) {
        this.leadership = leadership;
        this.upkeep = upkeep;
        this.replies = replies;
        this.counters = counters;
        this.counts = counters.requests();
        this.outbox = outbox;
        leaderQuestions = new LeaderQuestions(leadership, outbox);
        WantedRoom wantedRoom = new WantedRoom(rules, view);
        granting = new GrantRequests(
                rules, leadership, view, orders, grants, reconciliation, upkeep, wantedRoom, counters, random);
        publishes = new PublishRequests(
                view,
                grants,
                reconciliation,
                new Replacements(rules, view, orders, upkeep.tombstoneWriter(), upkeep.copies()),
                upkeep.standings(),
                wantedRoom,
                replies,
                counters);
        reads = new ReadRequests(upkeep.objectLeases(), view, orders, upkeep.promotions(), counters);
        Removals removals = new Removals(
                leadership, view, orders, grants, reconciliation, upkeep.tombstoneWriter(), upkeep.copies());
        CopyRemovals copyRemovals = new CopyRemovals(view, orders, upkeep.tasks(), counters);
        removes = new RemoveRequests(
                leadership, view, orders, grants, clients, publishes, removals, copyRemovals, replies, counters);
        hints = new HintRequests(view, orders.absences(), upkeep, counters);
        tasks = new TaskRequests(view, orders.absences(), upkeep.tasks());
    }

    public PublishRequests publishes() {
        return publishes;
    }

    /** Answers who has waited long enough, and goes on with what takes many turns. */
    public void tick(long nowMs) {
        publishes.tick(nowMs);
        removes.tick(nowMs);
        replies.expire(nowMs);
    }

    /** Answers clients that ask whether this master leads, as soon as it does. */
    public void answerLeaderQuestions(long nowMs) {
        leaderQuestions.answerDue(nowMs);
    }

    /** A client has gone. */
    public void drop(long session) {
        replies.drop(session);
        leaderQuestions.drop(session);
    }

    /** The grants of an ended term are dead, and who waited has been answered. */
    public void endTerm() {
        publishes.clear();
        removes.endTerm();
    }

    /**
     * Answers a request, at once or later.
     *
     * @param asked as it came from the client
     */
    public void receive(Asker asker, ClientRequest asked, long nowMs) {
        long session = asker.session();
        ClientRequest request = QualifiedRequest.of(asker.tenant(), asked);
        Status objection = objection(asker.tenant(), request, nowMs);
        if (objection != Status.OK) {
            if (LeaderQuestions.isOne(request)) {
                leaderQuestions.ask(session, request.requestId(), nowMs);
            } else {
                outbox.send(session, refusal(request, objection));
            }
            return;
        }
        switch (request) {
            case GrantRequest it -> {
                GrantReply reply = granting.grant(asker, it, nowMs);
                counts.answered(Kind.PUT_START, reply.grants(), GrantLine::status);
                outbox.send(session, reply);
            }
            case PublishRequest it -> {
                publishes.publish(session, it, nowMs);
                upkeep.put(it.puts().size(), nowMs);
            }
            case LookupRequest it -> lookup(asker, it, nowMs);
            case ExistsRequest it -> {
                ExistsReply reply = reads.exists(it, nowMs);
                counts.answered(Kind.EXIST_KEY, reply.results(), Existence::status);
                outbox.send(session, reply);
            }
            case RemoveRequest it -> removes.remove(session, it, nowMs);
            case RemoveAllRequest it -> removeAll(asker, it, nowMs);
            case HintRequest it -> outbox.send(session, hints.hint(it, nowMs));
            case CopyRequest it -> {
                TaskReply reply = tasks.copy(it, leadership.authority(), nowMs);
                counts.answered(kindOf(it), 1, reply.status());
                outbox.send(session, reply);
            }
            case TaskQuery it -> {
                TaskReply reply = tasks.query(asker.tenant(), it, nowMs);
                counts.answered(Kind.QUERY_TASK, 1, reply.status());
                outbox.send(session, reply);
            }
        }
    }

    private void lookup(Asker asker, LookupRequest request, long nowMs) {
        LookupReply reply = reads.lookup(request, leadership.authority(), nowMs);
        counts.answered(Kind.GET_REPLICA_LIST, reply.objects(), Found::status);
        if (!asker.tenant().isDefault()) {
            long hits = reply.objects().stream()
                    .filter(found -> found.status() == Status.OK)
                    .count();
            tenantReads.answered(asker.tenant(), hits, reply.objects().size() - hits);
        }
        outbox.send(asker.session(), reply);
    }

    /** How lookups of each tenant ended. */
    public TenantReads tenantReads() {
        return tenantReads;
    }

    /** Answers a request without looking at it. */
    public void refuse(long session, ClientRequest request, Status why) {
        outbox.send(session, refusal(request, why));
    }

    private void removeAll(Asker asker, RemoveAllRequest request, long nowMs) {
        KeyPattern.of(request.pattern())
                .ifPresentOrElse(
                        meant -> removes.removeAll(asker, request, meant, nowMs),
                        () -> outbox.send(asker.session(), refusal(request, Status.INVALID_ARGUMENT)));
    }

    private Status objection(Tenant tenant, ClientRequest request, long nowMs) {
        Status gate = leadership.gate(nowMs);
        if (gate != Status.OK) {
            return gate;
        }
        return switch (request) {
            case GrantRequest it -> grantObjection(it);
            case PublishRequest it ->
                waitingObjection(tenant, sizeObjection(it.puts().size()));
            case LookupRequest it -> sizeObjection(it.keys().size());
            case ExistsRequest it -> sizeObjection(it.keys().size());
            case RemoveRequest it -> waitingObjection(tenant, removeObjection(it));
            case RemoveAllRequest it -> waitingObjection(tenant, Status.OK);
            case HintRequest it -> hintObjection(it);
            case CopyRequest it -> it.targets().size() > Bounds.REPLICAS_MAX ? Status.INVALID_ARGUMENT : Status.OK;
            case TaskQuery it -> Status.OK;
        };
    }

    private static Status removeObjection(RemoveRequest request) {
        boolean isOfGroupOnNode = request.ofGroup() && !request.node().isEmpty();
        return isOfGroupOnNode
                ? Status.INVALID_ARGUMENT
                : namesObjection(request.ofGroup(), request.keys().size());
    }

    private static Status hintObjection(HintRequest request) {
        Status objection = HintRequests.objection(request);
        return objection == Status.OK
                ? namesObjection(request.ofGroup(), request.keys().size())
                : objection;
    }

    /** A group stands for many objects, so a request names one. */
    private static Status namesObjection(boolean ofGroup, int keys) {
        return ofGroup && keys > 1 ? Status.INVALID_ARGUMENT : sizeObjection(keys);
    }

    private static Status grantObjection(GrantRequest request) {
        String preferred = request.preferredNodes();
        boolean arePreferredMany = preferred.length() > Bounds.PREFERRED_CHARS_MAX
                || NodeName.list(preferred).size() > Bounds.PREFERRED_NODES_MAX;
        if (request.replicas() > Bounds.REPLICAS_MAX || arePreferredMany) {
            return Status.INVALID_ARGUMENT;
        }
        return request.deadlineMs() == 0
                ? Status.TIMEOUT
                : sizeObjection(request.keys().size());
    }

    private static Status sizeObjection(int keys) {
        return keys > ClientRequest.KEYS_MAX ? Status.INVALID_ARGUMENT : Status.OK;
    }

    private Status waitingObjection(Tenant tenant, Status otherwise) {
        if (replies.isFull(tenant)) {
            counters.add(Count.FULL_REPLIES);
            return Status.QUEUE_FULL;
        }
        return otherwise;
    }

    private static Kind kindOf(CopyRequest request) {
        return request.source().isEmpty() ? Kind.CREATE_COPY_TASK : Kind.CREATE_MOVE_TASK;
    }

    private void countRefused(ClientRequest request, Status why) {
        switch (request) {
            case GrantRequest it -> counts.answered(Kind.PUT_START, it.keys().size(), why);
            case PublishRequest it ->
                PublishRequests.answered(
                        counts, it, Collections.nCopies(it.puts().size(), why));
            case LookupRequest it ->
                counts.answered(Kind.GET_REPLICA_LIST, it.keys().size(), why);
            case ExistsRequest it -> counts.answered(Kind.EXIST_KEY, it.keys().size(), why);
            case RemoveRequest it -> counts.answered(Kind.REMOVE, it.keys().size(), why);
            case RemoveAllRequest it -> counts.answered(RemoveRequests.kindOf(it), 1, why);
            case HintRequest it -> {}
            case CopyRequest it -> counts.answered(kindOf(it), 1, why);
            case TaskQuery it -> counts.answered(Kind.QUERY_TASK, 1, why);
        }
    }

    private ClientReply refusal(ClientRequest request, Status why) {
        countRefused(request, why);
        long id = request.requestId();
        return switch (request) {
            case GrantRequest it -> new GrantReply(id, why, leadership.authority(), 0, List.of(), List.of());
            case PublishRequest it -> new PublishReply(id, why, List.of());
            case LookupRequest it -> new LookupReply(id, why, leadership.authority(), 0, List.of(), List.of());
            case ExistsRequest it -> new ExistsReply(id, why, List.of());
            case RemoveRequest it -> new RemoveReply(id, why, List.of());
            case RemoveAllRequest it -> new RemoveAllReply(id, why, 0);
            case HintRequest it -> new HintReply(id, why, List.of());
            case CopyRequest it -> TaskRequests.refusal(id, why);
            case TaskQuery it -> TaskRequests.refusal(id, why);
        };
    }
}
