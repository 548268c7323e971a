// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.wire.message.ClientReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.Message;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;

/** Requests that the admin endpoint makes, answered by the core as a client's are. Used on the event loop only. */
final class LocalRequests {
    private final Map<Long, CompletableFuture<ClientReply>> waiting = new HashMap<>();
    private long lastId;

    /** @param request makes the request with the id it is given */
    void send(MasterCore core, long nowMs, LongFunction<ClientRequest> request, CompletableFuture<ClientReply> answer) {
        lastId++;
        waiting.put(lastId, answer);
        core.receive(MasterCore.LOCAL_SESSION, request.apply(lastId), nowMs);
    }

    void answered(Message message) {
        if (message instanceof ClientReply reply) {
            CompletableFuture<ClientReply> answer = waiting.remove(reply.requestId());
            if (answer != null) {
                answer.complete(reply);
            }
        }
    }
}
