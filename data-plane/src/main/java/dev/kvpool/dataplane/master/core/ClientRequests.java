// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.ClientReply;
import dev.kvpool.dataplane.wire.message.ClientReply.ExistsReply;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientReply.PublishReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.nativelib.Status;
import java.util.List;

/** Sends each client request to whoever answers it, or says at once why it is not answered here and now. */
final class ClientRequests {
    private final Leadership leadership;
    private final GrantRequests grants;
    private final PublishRequests publishes;
    private final ReadRequests reads;
    private final RemoveRequests removes;
    private final PendingReplies replies;
    private final Outbox outbox;

    ClientRequests(
            Leadership leadership,
            GrantRequests grants,
            PublishRequests publishes,
            ReadRequests reads,
            RemoveRequests removes,
            PendingReplies replies,
            Outbox outbox) {
        this.leadership = leadership;
        this.grants = grants;
        this.publishes = publishes;
        this.reads = reads;
        this.removes = removes;
        this.replies = replies;
        this.outbox = outbox;
    }

    void receive(long session, ClientRequest request, long nowMs) {
        Status objection = objection(request, nowMs);
        if (objection != Status.OK) {
            outbox.send(session, refusal(request, objection));
            return;
        }
        switch (request) {
            case GrantRequest it -> outbox.send(session, grants.grant(session, it, nowMs));
            case PublishRequest it -> publishes.publish(session, it, nowMs);
            case LookupRequest it -> outbox.send(session, reads.lookup(it, leadership.authority(), nowMs));
            case ExistsRequest it -> outbox.send(session, reads.exists(it, nowMs));
            case RemoveRequest it -> removes.remove(session, it, nowMs);
            case RemoveAllRequest it -> removes.removeAll(session, it, nowMs);
        }
    }

    private Status objection(ClientRequest request, long nowMs) {
        Status gate = leadership.gate(nowMs);
        if (gate != Status.OK) {
            return gate;
        }
        return switch (request) {
            case GrantRequest it -> grantObjection(it);
            case PublishRequest it -> waitingObjection(it.puts().size());
            case LookupRequest it -> sizeObjection(it.keys().size());
            case ExistsRequest it -> sizeObjection(it.keys().size());
            case RemoveRequest it -> waitingObjection(it.keys().size());
            case RemoveAllRequest it -> waitingObjection(0);
        };
    }

    private static Status grantObjection(GrantRequest request) {
        if (request.replicas() > Bounds.REPLICAS_MAX) {
            return Status.INVALID_ARGUMENT;
        }
        return request.deadlineMs() == 0
                ? Status.TIMEOUT
                : sizeObjection(request.keys().size());
    }

    private static Status sizeObjection(int keys) {
        return keys > ClientRequest.KEYS_MAX ? Status.INVALID_ARGUMENT : Status.OK;
    }

    private Status waitingObjection(int keys) {
        return replies.isFull() ? Status.QUEUE_FULL : sizeObjection(keys);
    }

    private ClientReply refusal(ClientRequest request, Status why) {
        long id = request.requestId();
        return switch (request) {
            case GrantRequest it -> new GrantReply(id, why, leadership.authority(), 0, List.of(), List.of());
            case PublishRequest it -> new PublishReply(id, why, List.of());
            case LookupRequest it -> new LookupReply(id, why, leadership.authority(), 0, List.of(), List.of());
            case ExistsRequest it -> new ExistsReply(id, why, List.of());
            case RemoveRequest it -> new RemoveReply(id, why, List.of());
            case RemoveAllRequest it -> new RemoveAllReply(id, why, 0);
        };
    }
}
