// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.master.core.tenant.TenantShares;
import dev.kvpool.dataplane.wire.message.ClientReply;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** The replies that wait for nodes, a bounded number of them. */
public final class PendingReplies {
    private final Set<PendingReply> pending = new LinkedHashSet<>();
    private final Outbox outbox;
    private final Clients clients;

    /** Those that are not over. */
    private final TenantShares shares;

    public PendingReplies(Outbox outbox, Clients clients) {
        this.outbox = outbox;
        this.clients = clients;
        this.shares = new TenantShares(clients::areAnyOfTenants);
    }

    /** Whether there is no room for one more of this tenant. */
    public boolean isFull(Tenant tenant) {
        if (pending.size() >= Bounds.REPLIES_PENDING_MAX) {
            forgetFinished();
        }
        return !shares.hasRoom(tenant, 1, Bounds.REPLIES_PENDING_MAX);
    }

    /** Whether anybody waits for an answer. */
    public boolean isWaiting() {
        forgetFinished();
        return !pending.isEmpty();
    }

    public PendingReply open(long session, int lines, long untilMs, Function<List<Status>, ClientReply> shape) {
        Tenant tenant = clients.asker(session).tenant();
        PendingReply reply = new PendingReply(session, lines, untilMs, outbox, shape, () -> shares.add(tenant, -1));
        shares.add(tenant, 1);
        pending.add(reply);
        return reply;
    }

    public void expire(long nowMs) {
        for (PendingReply reply : pending) {
            if (nowMs >= reply.untilMs) {
                reply.decideRest(Status.TIMEOUT);
            }
        }
        forgetFinished();
    }

    private void forgetFinished() {
        pending.removeIf(PendingReply::isOver);
    }

    public void drop(long session) {
        for (PendingReply reply : pending) {
            if (reply.session == session) {
                reply.drop();
            }
        }
        forgetFinished();
    }

    /** This master no longer answers: every waiting client hears why, now. */
    public void decideAll(Status status) {
        new ArrayList<>(pending).forEach(reply -> reply.decideRest(status));
        pending.clear();
    }
}
