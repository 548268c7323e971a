// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.liveness;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Clients;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.Tombstones;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** Tells every peer that this master is alive, and notices those that are not. */
public final class Heartbeats {
    /** A session that has to end, and why. */
    public record Silent(long session, String reason) {
        public Silent(long session, long limitMs) {
            this(session, "silent for more than " + limitMs + " ms");
        }
    }

    private static final long NEVER = Long.MIN_VALUE / 2;

    private final Membership membership;
    private final Clients clients;
    private final Index index;
    private final Tombstones tombstones;
    private final Silences silences;
    private final Supplier<ObjectId> oldestGrant;
    private final Outbox outbox;
    private final Set<NodeView> forgetting = new LinkedHashSet<>();
    private long nodesMs = NEVER;
    private long clientsMs = NEVER;

    /** @param oldestGrant what nodes hear of a leader's grants, see {@link Heartbeat} */
    public Heartbeats(View view, Clients clients, Silences silences, Supplier<ObjectId> oldestGrant, Outbox outbox) {
        this.oldestGrant = oldestGrant;
        this.membership = view.membership();
        this.clients = clients;
        this.silences = silences;
        this.index = view.index();
        this.tombstones = view.tombstones();
        this.outbox = outbox;
    }

    /** Beats when it is time; the sessions that were silent for too long. */
    public List<Silent> tick(long nowMs) {
        List<Silent> silent = beat(nowMs);
        goOnForgetting();
        return silent;
    }

    private List<Silent> beat(long nowMs) {
        List<Silent> silent = new ArrayList<>();
        long nodesPeriodMs = silences.areAny(nowMs) ? Bounds.SUSPICIOUS_BEAT_MS : Bounds.NODE_BEAT_MS;
        if (nowMs - nodesMs >= nodesPeriodMs) {
            nodesMs = nowMs;
            beatNodes(silent, nowMs);
        }
        if (nowMs - clientsMs >= Bounds.HEARTBEAT_MS) {
            clientsMs = nowMs;
            beatClients(silent, nowMs);
        }
        return silent;
    }

    private void beatNodes(List<Silent> silent, long nowMs) {
        ObjectId oldest = oldestGrant.get();
        for (NodeView node : List.copyOf(membership.all())) {
            if (!node.isConnected()) {
                forgetIfGone(node, nowMs);
            } else if (nowMs - node.heardMs() > Bounds.NODE_SILENCE_MS) {
                silent.add(new Silent(node.session(), Bounds.NODE_SILENCE_MS));
            } else {
                outbox.send(node.session(), new Heartbeat(nowMs, oldest));
            }
        }
    }

    private void beatClients(List<Silent> silent, long nowMs) {
        for (Map.Entry<Long, Long> client : clients.heardMs()) {
            if (nowMs - client.getValue() > Bounds.CLIENT_SILENCE_MS) {
                silent.add(new Silent(client.getKey(), Bounds.CLIENT_SILENCE_MS));
            } else {
                outbox.send(client.getKey(), new Heartbeat());
            }
        }
    }

    /** A node has ended, and its memory with it: nobody waits for it. */
    public void left(NodeView node) {
        forgetting.add(node);
    }

    /** The memory of a transient node is gone with its process; a node that is not expected any more was scaled in. */
    private void forgetIfGone(NodeView node, long nowMs) {
        // One that never showed its directory has not said either whether it is transient, and nothing of it is known.
        boolean soon = node.isTransient() || !node.known();
        long patienceMs = soon ? Bounds.TRANSIENT_AWAY_MS : Bounds.UNEXPECTED_AWAY_MS;
        boolean expected = membership.expected().contains(node.id) && !node.isTransient();
        if (!expected && nowMs - node.awaySinceMs() > patienceMs && forgetting.add(node)) {
            outbox.report(
                    "node %s forgotten with %d objects: away and not expected".formatted(node.id, node.replicaCount()));
        }
    }

    /** What a node has shown is of no use: it goes as if the node had never come, unless it comes back meanwhile. */
    public void forget(NodeView node) {
        forgetting.add(node);
    }

    /** A node may have held millions: it goes little by little, unless it comes back meanwhile and shows what it has. */
    private void goOnForgetting() {
        forgetting.removeIf(NodeView::isConnected);
        Iterator<NodeView> next = forgetting.iterator();
        if (!next.hasNext()) {
            return;
        }
        NodeView node = next.next();
        node.shownTo(Authority.NONE); // what it held is known no more, and it may come back with it
        if (tombstones.drop(node, Bounds.TOMBSTONES_OF_NODE_PER_TICK) && index.drop(node, Bounds.FORGOTTEN_PER_TICK)) {
            next.remove();
            membership.forget(node);
        }
    }
}
