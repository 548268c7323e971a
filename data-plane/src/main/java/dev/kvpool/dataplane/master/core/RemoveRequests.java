// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.Counters.Count;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Removes objects: out of sight at once, acknowledged when every replica's node has freed its extent. */
final class RemoveRequests {
    private final Index index;
    private final Grants grants;
    private final Frees frees;
    private final PendingReplies replies;
    private final Counters counters;

    RemoveRequests(Index index, Grants grants, Frees frees, PendingReplies replies, Counters counters) {
        this.index = index;
        this.grants = grants;
        this.frees = frees;
        this.replies = replies;
        this.counters = counters;
    }

    void remove(long session, RemoveRequest request, long nowMs) {
        PendingReply reply = replies.open(
                session,
                request.keys().size(),
                nowMs + Bounds.REMOVE_WAIT_MS,
                results -> new RemoveReply(request.requestId(), Status.OK, results));
        int line = 0;
        for (Key key : request.keys()) {
            StoredObject object = index.published(key);
            Status objection = objection(key, object, request.force(), nowMs);
            if (objection == Status.OK) {
                giveUp(object, reply, line);
            } else {
                reply.decide(line, objection);
            }
            line++;
        }
        reply.sendWhenComplete();
    }

    void removeAll(long session, RemoveAllRequest request, long nowMs) {
        List<StoredObject> victims = new ArrayList<>();
        for (StoredObject object : index.recency()) {
            if (objection(object.key(), object, request.force(), nowMs) == Status.OK) {
                victims.add(object);
            }
        }
        PendingReply reply = replies.open(
                session,
                victims.size(),
                nowMs + Bounds.REMOVE_WAIT_MS,
                results -> new RemoveAllReply(
                        request.requestId(), overall(results), Collections.frequency(results, Status.OK)));
        int line = 0;
        for (StoredObject object : victims) {
            giveUp(object, reply, line);
            line++;
        }
        reply.sendWhenComplete();
    }

    private Status objection(Key key, StoredObject object, boolean force, long nowMs) {
        if (!key.isValid()) {
            return Status.INVALID_KEY;
        }
        if (grants.isBeingPut(key, nowMs)) {
            return Status.BUSY;
        }
        if (object == null) {
            return Status.NOT_FOUND;
        }
        if (object.isLeased(nowMs) && !force) {
            return Status.HAS_LEASE;
        }
        // A node away could not be told, and would bring the object back.
        return object.usableReplicas() == object.replicaCount() ? Status.OK : Status.UNAVAILABLE;
    }

    private void giveUp(StoredObject object, PendingReply reply, int line) {
        frees.giveUp(object, new Frees.Removal(freed -> {
            counters.add(Count.REMOVED, freed ? 1 : 0);
            reply.decide(line, freed ? Status.OK : Status.UNAVAILABLE);
        }));
    }

    /** A node that went away meanwhile only makes the number smaller; a leader that stopped or a wait that ended is told. */
    private static Status overall(List<Status> results) {
        for (Status result : results) {
            if (result != Status.OK && result != Status.UNAVAILABLE) {
                return result;
            }
        }
        return Status.OK;
    }
}
