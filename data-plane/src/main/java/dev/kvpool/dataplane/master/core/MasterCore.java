// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.Counters.Count;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeCommand.LeaderLeaves;
import dev.kvpool.dataplane.wire.message.NodeMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * The single writer that knows where every object is. Every input carries the time in milliseconds of a clock that never
 * goes back; what is to be done waits in {@link #drain}. Sessions are numbers the caller gives to welcomed connections and
 * never uses twice; {@link #LOCAL_SESSION} is the master's own, for requests of its admin endpoint.
 */
public final class MasterCore {
    public static final long LOCAL_SESSION = 0;

    private final Outbox outbox = new Outbox();
    private final Counters counters = new Counters();
    private final Leadership leadership = new Leadership();
    private final Index index;
    private final Grants grants = new Grants();
    private final Clients clients = new Clients();
    private final Membership membership;
    private final PendingReplies replies;
    private final Tombstones tombstones = new Tombstones();
    private final Frees frees;
    private final Upkeep upkeep;
    private final RemoveRequests removes;
    private final Takeover takeover;
    private final NodeMessages nodeMessages;
    private final PublishRequests publishes;
    private final ClientRequests requests;
    private final TakeoverReserve reserve;
    private final Evictor evictor;
    private final Heartbeats heartbeats;
    private final Departures departures;
    private final StatusReport report;

    private final CoreSettings settings;

    private long lastRequestId;
    private long nowMs;

    public MasterCore(CoreSettings settings, Set<String> expectedNodes, RandomGenerator random) {
        this.settings = settings;
        index = new Index(settings.replicas(), random);
        membership = new Membership(expectedNodes);
        replies = new PendingReplies(outbox);
        frees = new Frees(index, membership, outbox, this::nextRequestId);
        Commands commands = new Commands(outbox, this::nextRequestId);
        Purges purges = new Purges(membership, index, commands);
        Enrolments enrolments = new Enrolments(membership, tombstones, purges);
        Groups groups = new Groups(index);
        Departed departed = new Departed();
        Settlement settlement =
                new Settlement(settings, index, groups, grants, frees, leadership, tombstones, purges, counters);
        upkeep = new Upkeep(
                settings,
                leadership,
                membership,
                index,
                frees,
                settlement,
                tombstones,
                enrolments,
                commands,
                purges,
                counters,
                outbox);
        takeover = new Takeover(
                settings,
                leadership,
                membership,
                enrolments,
                index,
                grants,
                frees,
                settlement,
                tombstones,
                upkeep,
                replies,
                counters,
                outbox,
                this::nextRequestId);
        publishes = new PublishRequests(index, membership, grants, settlement, upkeep.standings(), replies, counters);
        reserve = new TakeoverReserve(settings.eviction(), membership, settlement);
        GrantRequests granting = new GrantRequests(
                settings, index, membership, enrolments, grants, settlement, leadership, reserve, counters, random);
        ReadRequests reads = new ReadRequests(settings, index, groups, enrolments, leadership, departed, counters);
        Removals removals = new Removals(
                index,
                membership,
                enrolments,
                grants,
                frees,
                settlement,
                leadership,
                upkeep.burials(),
                upkeep.copies());
        removes = new RemoveRequests(
                index,
                groups,
                membership,
                grants,
                publishes,
                leadership,
                removals,
                purges,
                replies,
                departed,
                counters);
        requests = new ClientRequests(leadership, granting, publishes, reads, removes, replies, outbox);
        evictor = new Evictor(settings.eviction(), leadership, membership, index, groups, frees, departed, counters);
        heartbeats = new Heartbeats(membership, clients, index, tombstones, outbox);
        departures = new Departures(membership, outbox);
        nodeMessages = new NodeMessages(
                index, tombstones, leadership, takeover, settlement, publishes, frees, upkeep, departures, outbox);
        report = new StatusReport(leadership, membership, index, tombstones, grants, takeover, upkeep, counters);
    }

    // ---- connections --------------------------------------------------------------------------------------------

    /** A node passed the handshake. Answers why it may not come in, or nothing: then {@code session} is the node's. */
    public Optional<Objection> nodeConnected(long session, NodePeer peer, long now) {
        nowMs = now;
        Optional<Objection> objection = membership.objection(peer, nowMs);
        if (objection.isPresent()) {
            nodeRefused(peer.id(), objection.get().message());
            return objection;
        }
        NodeView before = membership.node(peer.id());
        if (before != null && before.isConnected()) {
            long replaced = before.session;
            lose(before, "replaced by a newer connection");
            outbox.close(replaced, "a newer connection of " + peer + " replaces this one");
        }
        membership.connect(session, peer, nowMs);
        return Optional.empty();
    }

    /** A node did not pass the handshake; the status shows why if it is expected. */
    public void nodeRefused(String id, String reason) {
        membership.refused(id, reason);
    }

    /** A client passed the handshake. Answers why it may not come in, or nothing. */
    public Optional<Objection> clientConnected(long session, long now) {
        return clients.connect(session, now);
    }

    /** A session ended, by whatever side. Unknown sessions are ignored. */
    public void closed(long session, String reason, long now) {
        nowMs = now;
        NodeView node = membership.bySession(session);
        if (node != null) {
            lose(node, reason);
        } else if (clients.disconnect(session)) {
            replies.drop(session);
            grants.abandon(session);
        }
        sendFrees();
    }

    // ---- messages -----------------------------------------------------------------------------------------------

    public void receive(long session, Message message, long now) {
        nowMs = now;
        try {
            NodeView node = membership.bySession(session);
            if (node != null) {
                node.heardMs = nowMs;
                fromNode(node, message);
            } else if (session == LOCAL_SESSION || clients.heard(session, nowMs)) {
                fromClient(session, message);
            }
        } catch (ProtocolViolation e) {
            counters.add(Count.STREAM_VIOLATIONS);
            outbox.close(session, e.getMessage());
            closed(session, e.getMessage(), now);
        }
        sendFrees();
    }

    private void fromClient(long session, Message message) throws ProtocolViolation {
        switch (message) {
            case ClientRequest request -> requests.receive(session, request, nowMs);
            case Heartbeat heartbeat -> {}
            default ->
                throw new ProtocolViolation(
                        "a client sent " + message.getClass().getSimpleName());
        }
    }

    private void fromNode(NodeView node, Message message) throws ProtocolViolation {
        switch (message) {
            case NodeMessage told -> nodeMessages.receive(node, told, nowMs);
            case Heartbeat heartbeat -> {}
            default ->
                throw new ProtocolViolation(
                        "node " + node.id + " sent " + message.getClass().getSimpleName());
        }
    }

    // ---- leadership ---------------------------------------------------------------------------------------------

    /**
     * The Lease is ours under this authority: for the first time, or raised.
     *
     * @param validUntilMs until when we may serve, unless it is renewed
     * @param predecessorUntilMs until when the leaders before us may go on granting object leases
     */
    public void lead(Authority authority, long validUntilMs, long predecessorUntilMs, long now) {
        nowMs = now;
        publishes.clear();
        removes.endTerm();
        departures.forget(authority);
        takeover.begin(authority, validUntilMs, predecessorUntilMs, nowMs);
        sendFrees();
    }

    /** The same, when nothing is known of the leaders before: they may go on for as long as a Lease lasts. */
    public void lead(Authority authority, long validUntilMs, long now) {
        lead(authority, validUntilMs, now + settings.leaseDurationMs(), now);
    }

    /** The Lease was renewed. */
    public void renewed(long validUntilMs) {
        if (leadership.leads()) {
            leadership.renewed(validUntilMs);
        }
    }

    /** The Lease is somebody else's, or nobody's. */
    public void standBy(String reason, long now) {
        nowMs = now;
        publishes.clear();
        removes.endTerm();
        takeover.end(reason);
    }

    /**
     * Takes no requests any more, because the Lease is about to be given back; who waits for nodes is still answered.
     *
     * @return the authority this master leads under, {@link Authority#NONE} when it does not
     */
    public Authority leave() {
        leadership.leave();
        return leadership.authority();
    }

    /** Whether a client waits for an answer. */
    public boolean hasWaiting() {
        return replies.isWaiting();
    }

    /** The Lease was given back: the nodes tell the other masters, who need not wait for their next look at it. */
    public void left(Authority authority) {
        for (NodeView node : membership.all()) {
            if (node.isConnected()) {
                outbox.send(node.session, new LeaderLeaves(authority));
            }
        }
    }

    /** The nodes that should be there from now on, and the zone each is said to be in, empty where none is. */
    public void expectNodes(Map<String, String> zones, long now) {
        nowMs = now;
        membership.expect(zones);
        takeover.serveWhenReady(nowMs);
    }

    // ---- time ---------------------------------------------------------------------------------------------------

    /** To be called every 10 ms or so. */
    public void tick(long now) {
        nowMs = now;
        for (Heartbeats.Silent silent : heartbeats.tick(nowMs)) {
            outbox.close(silent.session(), silent.reason());
            closed(silent.session(), silent.reason(), nowMs);
        }
        takeover.tick(nowMs);
        publishes.tick(nowMs);
        frees.tick(nowMs);
        removes.tick(nowMs);
        upkeep.tick(nowMs);
        replies.expire(nowMs);
        reserve.tick(nowMs);
        evictor.tick(nowMs);
        sendFrees();
    }

    // ---- answers ------------------------------------------------------------------------------------------------

    /** What is to be done since the last call, in order. */
    public List<Action> drain() {
        return outbox.drain();
    }

    public PoolStatus status() {
        return report.now(clients.count());
    }

    /** Keys that can be read here now, at most {@code limit} of them, in no order. */
    public List<String> keys(int limit) {
        return leadership.leads()
                ? index.publishedKeys(limit).stream().map(Key::toString).toList()
                : List.of();
    }

    /** The nodes that hold the published object of a key; empty when there is none. Leases nothing. */
    public List<String> holders(Key key) {
        List<String> holders = new ArrayList<>();
        StoredObject object = leadership.leads() ? index.published(key) : null;
        if (object != null) {
            object.replicas().forEach(replica -> holders.add(replica.node().id));
        }
        return holders;
    }

    /**
     * Begins to empty a node, or begins anew.
     *
     * @param startedAtMs what people shall be told as the time it began
     * @return why that is not possible here and now, or nothing
     */
    public Optional<String> drain(String node, long timeoutMs, long startedAtMs, long now) {
        nowMs = now;
        return leadership.serves(now)
                ? upkeep.drain(node, timeoutMs, startedAtMs, now)
                : Optional.of("this master does not serve as leader");
    }

    /** Ends the emptying of a node, which takes part again; false when there is none. */
    public boolean cancelDrain(String node) {
        return upkeep.drains().cancel(node);
    }

    private void lose(NodeView node, String reason) {
        outbox.report("node %s away with %d objects: %s".formatted(node.id, node.replicaCount(), reason));
        frees.abandon(node);
        index.disconnected(node);
        membership.disconnect(node, reason, nowMs);
        upkeep.abandon(node);
        publishes.disconnected(nowMs);
    }

    private void sendFrees() {
        if (leadership.phase() == Leadership.Phase.SERVING) {
            frees.send(leadership.authority());
            upkeep.send(nowMs);
        }
    }

    private long nextRequestId() {
        lastRequestId++;
        return lastRequestId;
    }
}
