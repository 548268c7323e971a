// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.wire.message.ClientReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;

/** Requests that the admin endpoint makes, answered by the core as a client's are. Used on the event loop only. */
final class LocalRequests {
    private final Map<Long, CompletableFuture<ClientReply>> waiting = new HashMap<>();
    private long lastId;

    /**
     * Asks the core.
     *
     * @param tenant whose objects are meant; empty: those of the whole pool
     * @param request makes the request with the id it is given
     */
    void send(
            MasterCore core,
            long nowMs,
            Optional<Tenant> tenant,
            LongFunction<ClientRequest> request,
            CompletableFuture<ClientReply> answer) {
        lastId++;
        waiting.put(lastId, answer);
        ClientRequest asked = request.apply(lastId);
        tenant.ifPresentOrElse(
                one -> core.receive(one, asked, nowMs), () -> core.receive(MasterCore.LOCAL_SESSION, asked, nowMs));
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
