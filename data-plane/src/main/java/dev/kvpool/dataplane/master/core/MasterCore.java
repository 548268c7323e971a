// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.Asker;
import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.Clients;
import dev.kvpool.dataplane.master.core.base.CoreSettings;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.DrainStatus;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.Objection;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.base.PendingReplies;
import dev.kvpool.dataplane.master.core.base.ProtocolViolation;
import dev.kvpool.dataplane.master.core.base.ViewDefect;
import dev.kvpool.dataplane.master.core.command.Grants;
import dev.kvpool.dataplane.master.core.command.LateWrites;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.IndexFullException;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.liveness.Assurance;
import dev.kvpool.dataplane.master.core.liveness.BlindLeader;
import dev.kvpool.dataplane.master.core.liveness.Departures;
import dev.kvpool.dataplane.master.core.liveness.Electorate;
import dev.kvpool.dataplane.master.core.liveness.Heartbeats;
import dev.kvpool.dataplane.master.core.liveness.LeaseLooks;
import dev.kvpool.dataplane.master.core.liveness.Reach;
import dev.kvpool.dataplane.master.core.liveness.Silences;
import dev.kvpool.dataplane.master.core.membership.NodesSetApart;
import dev.kvpool.dataplane.master.core.membership.NodesSetApart.Cause;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.reconciliation.Reconciliation;
import dev.kvpool.dataplane.master.core.register.LentMemory;
import dev.kvpool.dataplane.master.core.register.RegisterKeeper;
import dev.kvpool.dataplane.master.core.report.ChangeReport;
import dev.kvpool.dataplane.master.core.report.KeyReport;
import dev.kvpool.dataplane.master.core.report.KeyStatus;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.master.core.report.StatusReport;
import dev.kvpool.dataplane.master.core.request.ClientRequests;
import dev.kvpool.dataplane.master.core.seal.TermSecret;
import dev.kvpool.dataplane.master.core.takeover.Takeover;
import dev.kvpool.dataplane.master.core.upkeep.Upkeep;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeCommand.LeaderLeaves;
import dev.kvpool.dataplane.wire.message.NodeMessage;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeStats;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.RefusalCode;
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

    public static final String NOT_SERVING = "this master does not serve as leader";

    private final CurrentRules rules;
    private final Outbox outbox = new Outbox();
    private final Clients clients = new Clients();
    private final PendingReplies replies = new PendingReplies(outbox, clients);
    private final Counters counters;
    private final NodesSetApart setApart;
    private final CoreSettings settings;
    private final RandomGenerator random;
    private final RandomGenerator secrets;
    private final Leadership leadership = new Leadership();
    private final RegisterKeeper register;
    private final View view;
    private final Orders orders;
    private final LentMemory lentMemory;
    private final LateWrites lateWrites = new LateWrites();

    private final Grants grants;
    private final Upkeep upkeep;
    private final Takeover takeover;
    private final ClientRequests requests;
    private final NodeMessages nodeMessages;
    private final Heartbeats heartbeats;
    private final LeaseLooks looks = new LeaseLooks(outbox);
    private final Departures departures;
    private final Assurance assurance;
    private final Reach reach;
    private final BlindLeader blindLeader;
    private final StatusReport report;
    private final KeyReport keyReport;
    private final ChangeReport changeReport;
    private long reachMs = Long.MIN_VALUE / 2;
    private long nowMs;

    /**
     * A core that knows nothing yet.
     *
     * @param random for what is spread evenly
     * @param secrets for what none may guess
     */
    public MasterCore(
            CoreSettings settings, Set<String> expectedNodes, RandomGenerator random, RandomGenerator secrets) {
        this(
                settings,
                expectedNodes,
                random,
                secrets,
                new Counters(),
                new NodesSetApart(),
                new BlindLeader(settings.leaseDurationMs()));
    }

    private MasterCore(
            CoreSettings settings,
            Set<String> expectedNodes,
            RandomGenerator random,
            RandomGenerator secrets,
            Counters counters,
            NodesSetApart setApart,
            BlindLeader blindLeader) {
        this.settings = settings;
        this.random = random;
        this.secrets = secrets;
        this.counters = counters;
        this.setApart = setApart;
        this.blindLeader = blindLeader;
        rules = new CurrentRules(settings.cache());
        view = View.empty(rules.replicas(), settings.recordBytesMax(), expectedNodes, setApart, random);
        view.index().changes().to(outbox::changed);
        grants = new Grants(lateWrites, view.index().accounts(), clients);
        register = new RegisterKeeper(leadership, outbox);
        orders = new Orders(rules, leadership, view, register, lateWrites, outbox);
        view.index().whenDisplaced(() -> orders.frees().unlisted(nowMs));
        lentMemory = new LentMemory(view.membership(), register);
        Reconciliation reconciliation = new Reconciliation(rules, leadership, view, orders, grants, counters);
        upkeep = new Upkeep(
                rules, settings.evictionsTold(), leadership, view, orders, reconciliation, clients, counters, outbox);
        takeover = new Takeover(
                rules,
                leadership,
                view,
                orders,
                grants,
                reconciliation,
                upkeep,
                replies,
                counters,
                looks,
                outbox,
                new TermSecret(secrets));
        requests = new ClientRequests(
                rules,
                leadership,
                view,
                orders,
                grants,
                clients,
                reconciliation,
                upkeep,
                replies,
                counters,
                outbox,
                random);
        reach = new Reach(view.membership(), register);
        Electorate electorate = new Electorate(view.membership(), register, settings.requiresCertificates());
        Silences silences = new Silences(electorate, outbox);
        heartbeats = new Heartbeats(view, clients, silences, takeover::oldestGrant, outbox);
        departures = new Departures(leadership, reach, silences, looks, outbox);
        assurance = new Assurance(settings.renewDeadlineMs(), leadership, view.membership(), electorate, outbox);
        nodeMessages = new NodeMessages(
                leadership,
                view,
                orders,
                takeover,
                reconciliation,
                requests.publishes(),
                upkeep,
                departures,
                counters,
                outbox,
                this::left);
        report = new StatusReport(
                rules,
                leadership,
                assurance,
                reach,
                view,
                orders,
                grants,
                takeover,
                upkeep,
                requests.tenantReads(),
                counters);
        keyReport = new KeyReport(view, orders, grants);
        changeReport = new ChangeReport(leadership, view);
    }

    // ---- connections --------------------------------------------------------------------------------------------

    /** A node passed the handshake. Answers why it may not come in, or nothing: then {@code session} is the node's. */
    public Optional<Objection> nodeConnected(long session, NodePeer peer, long now) {
        at(now);
        Optional<Objection> objection = lentMemory.objection(peer);
        counters.add(Count.LENDING_REFUSED, objection.isPresent() ? 1 : 0);
        objection = objection.or(() -> view.membership().objection(peer, nowMs)).or(() -> forgetting(peer.id()));
        if (objection.isPresent()) {
            NodeView refused = view.membership().node(peer.id());
            counters.add(refused != null && refused.known() ? Count.NODES_REFUSED_AGAIN : Count.NODES_REFUSED);
            nodeRefused(peer.id(), objection.get());
            return objection;
        }
        NodeView before = view.membership().node(peer.id());
        if (before == null || !before.isConnected()) {
            view.membership().connect(session, peer, nowMs);
            return Optional.empty();
        }
        long replaced = before.session();
        away(before, "replaced by a newer connection");
        outbox.close(replaced, "a newer connection of " + peer + " replaces this one");
        view.membership().connect(session, peer, nowMs);
        // Only now: what the same process is writing shows in the directory that it sends again.
        requests.publishes().disconnected(nowMs);
        return Optional.empty();
    }

    /** An engine was there under the id of a storage node: what it has shown is no word of that node, and is forgotten first. */
    private Optional<Objection> forgetting(String id) {
        NodeView before = view.membership().node(id);
        boolean isEngines = before != null && before.isTransient();
        return expects(id) && (isEngines || orders.members().isEngine(id))
                ? Optional.of(new Objection(
                        RefusalCode.SET_APART,
                        "an engine had the id of node " + id
                                + "; the node can come in when that is forgotten, in some seconds"))
                : Optional.empty();
    }

    /** A node did not pass the handshake; the status shows why if it is expected. */
    public void nodeRefused(String id, Objection why) {
        view.membership().refused(id, why);
    }

    /** A client of its own passed the handshake, without a certificate. Answers why it may not come in, or nothing. */
    public Optional<Objection> clientConnected(long session, long now) {
        return clientConnected(session, Optional.empty(), now);
    }

    /** The same, by the tenant of its certificate; empty without one. */
    public Optional<Objection> clientConnected(long session, Optional<Tenant> tenant, long now) {
        return clientConnected(session, "", tenant, now);
    }

    /**
     * A client passed the handshake. Answers why it may not come in, or nothing.
     *
     * @param process the same for each connection of the client, and no other's; empty: not known
     * @param tenant by its certificate; empty without one
     */
    public Optional<Objection> clientConnected(long session, String process, Optional<Tenant> tenant, long now) {
        return clients.connect(session, process, tenant, now);
    }

    /** A session ended, by whatever side. Unknown sessions are ignored. */
    public void closed(long session, String reason, long now) {
        at(now);
        NodeView node = view.membership().bySession(session);
        if (node != null) {
            lose(node, reason);
        } else if (clients.disconnect(session)) {
            requests.drop(session);
            grants.abandon(session);
        }
        sendWhatWaits();
    }

    /**
     * A core that knows nothing yet, in the place of this one, which has thrown and is not used any more. It goes by the same rules,
     * expects the same nodes, goes on counting, and leaves out for a while the nodes over whose records this one threw. It does not
     * lead; every connection is to be closed.
     */
    public MasterCore withoutView(ViewDefect defect, long now) {
        CoreSettings same = settings.with(rules.all());
        Map<String, String> zones = view.membership().zones();
        MasterCore fresh = new MasterCore(same, zones.keySet(), random, secrets, counters, setApart, blindLeader);
        fresh.expectNodes(zones, now);
        fresh.leadership.standBy();
        fresh.leadership.knowsLeaseOf(leadership);
        fresh.register.seen(register.stored());
        for (NodePeer node : defect.nodes()) {
            counters.add(Count.SET_APART_DEFECT);
            fresh.outbox.report("node %s is %s"
                    .formatted(node.id(), setApart.setApart(node, Cause.DEFECT, defect.getMessage(), now)));
        }
        return fresh;
    }

    /** The authority this master leads under, {@link Authority#NONE} when it does not. */
    public Authority authority() {
        return leadership.authority();
    }

    // ---- messages -----------------------------------------------------------------------------------------------

    /**
     * A peer says something.
     *
     * @throws ViewDefect when this core could not bear what the peer said, and must be followed by one {@link #withoutView}
     */
    public void receive(long session, Message message, long now) {
        at(now);
        NodeView node = view.membership().bySession(session);
        try {
            if (node != null) {
                node.heard(nowMs);
                fromNode(node, message);
            } else if (session == LOCAL_SESSION || clients.heard(session, nowMs)) {
                fromClient(session, message);
            }
        } catch (ProtocolViolation e) {
            if (node == null) {
                counters.add(Count.STREAM_VIOLATIONS);
                end(session, e.getMessage());
            } else {
                broke(node, e.getMessage());
            }
        } catch (IndexFullException e) {
            end(session, setApart(node, Cause.INDEX_FULL, e.getMessage()));
        }
        sendWhatWaits();
    }

    /** Whether this is the id of a storage node that belongs to the pool, or did and may come back with what it holds. */
    public boolean expects(String nodeId) {
        return orders.members().isStorageNode(nodeId);
    }

    /** Answers a request that its client may not make. */
    public void refuse(long session, ClientRequest request, Status why, long now) {
        at(now);
        if (clients.heard(session, nowMs)) {
            requests.refuse(session, request, why);
        }
    }

    private void broke(NodeView node, String rule) {
        counters.add(Count.STREAM_VIOLATIONS);
        if (!node.isTransient() && leadership.leads()) {
            // It may well obey another leader, where the Lease of this one was deleted.
            looks.ask(nowMs);
        }
        end(node.session(), setApart(node, Cause.VIOLATION, rule));
    }

    private void end(long session, String reason) {
        outbox.close(session, reason);
        closed(session, reason, nowMs);
    }

    private String setApart(NodeView node, Cause cause, String why) {
        counters.add(cause == Cause.VIOLATION ? Count.SET_APART_VIOLATION : Count.SET_APART_INDEX_FULL);
        if (cause == Cause.INDEX_FULL && !node.known()) {
            heartbeats.forget(node);
        }
        String reason = setApart.setApart(node.peer(), cause, why, nowMs);
        outbox.report("node %s is %s".formatted(node.id, reason));
        return reason;
    }

    /**
     * The admin endpoint asks for the objects of one tenant.
     *
     * @param request as a client of that tenant would send it; the answer goes to {@link #LOCAL_SESSION}
     */
    public void receive(Tenant tenant, ClientRequest request, long now) {
        at(now);
        requests.receive(new Asker(LOCAL_SESSION, tenant, Asker.Reach.TENANT), request, nowMs);
        sendWhatWaits();
    }

    private Asker asker(long session) {
        return session == LOCAL_SESSION ? new Asker(session, Tenant.DEFAULT, Asker.Reach.POOL) : clients.asker(session);
    }

    private void fromClient(long session, Message message) throws ProtocolViolation {
        switch (message) {
            case ClientRequest request
            when clients.isLate(session, request.requestId()) ->
                end(session, "what its client asks for here is older than what it has asked for by a later connection");
            case ClientRequest request -> ask(session, request);
            case Heartbeat heartbeat -> counters.add(Count.CLIENT_HEARTBEATS);
            default ->
                throw new ProtocolViolation(
                        "a client sent " + message.getClass().getSimpleName());
        }
    }

    private void ask(long session, ClientRequest request) {
        try {
            requests.receive(asker(session), request, nowMs);
        } catch (RuntimeException | AssertionError | StackOverflowError e) {
            if (session == LOCAL_SESSION) {
                throw e;
            }
            throw ViewDefect.overClient(session, e);
        }
    }

    private void fromNode(NodeView node, Message message) throws ProtocolViolation, IndexFullException {
        switch (message) {
            case NodeMessage told -> told(node, told);
            case Heartbeat heartbeat -> answered(node, heartbeat.beat());
            default ->
                throw new ProtocolViolation(
                        "node " + node.id + " sent " + message.getClass().getSimpleName());
        }
    }

    private void told(NodeView node, NodeMessage told) throws ProtocolViolation, IndexFullException {
        NodePeer peer = node.peer();
        requireKnownWire(node, told);
        try {
            nodeMessages.receive(node, told, nowMs);
        } catch (RuntimeException | AssertionError | StackOverflowError e) {
            throw ViewDefect.overNode(peer, e);
        }
    }

    private void requireKnownWire(NodeView node, NodeMessage told) throws ProtocolViolation {
        int wire = switch (told) {
            case NodeInfo info -> info.active().wire();
            case NodeStats stats -> stats.active().wire();
            default -> 0;
        };
        if (wire > settings.wireMax()) {
            throw new ProtocolViolation(
                    "node %s says that its pool speaks wire %d, this master's build knows at most %d: upgrade the masters if that is so, else remove its segment"
                            .formatted(node.id, wire, settings.wireMax()));
        }
    }

    private void answered(NodeView node, long beat) throws ProtocolViolation {
        if (beat > nowMs) {
            throw new ProtocolViolation("node " + node.id + " answered heartbeat " + beat + ", which was not sent");
        }
        if (beat > 0) {
            node.answered(beat);
        }
    }

    // ---- leadership ---------------------------------------------------------------------------------------------

    /**
     * The Lease is ours under this authority: for the first time, or raised.
     *
     * @param validUntilMs until when we may serve, unless it is renewed
     * @param predecessorUntilMs until when the leaders before us may go on granting object leases
     * @param taken the register that the Lease had
     */
    public void lead(Authority authority, long validUntilMs, long predecessorUntilMs, Register taken, long now) {
        at(now);
        view.removals().beginTerm();
        requests.endTerm();
        departures.forget(authority);
        assurance.renewed(validUntilMs, nowMs);
        takeover.begin(authority, validUntilMs, predecessorUntilMs, taken, nowMs);
        sendWhatWaits();
    }

    /** The Lease holds this register, which we have asked for. */
    public void registerStored(Register stored, long now) {
        at(now);
        if (leadership.leads()) {
            register.isStored(stored);
            takeover.serveWhenReady(nowMs); // nodes may take part that it names now
            sendWhatWaits();
        }
    }

    /**
     * A look at the Lease shows this epoch and register.
     *
     * @throws ViewDefect when it is the first look, and a node has shown before it what it cannot have
     */
    public void leaseSeen(long epoch, Register seen, long now) {
        at(now);
        boolean first = !leadership.knowsLease();
        leadership.leaseSeen(epoch);
        takeover.registerSeen(seen);
        if (first) {
            view.membership().all().forEach(this::requirePossible);
        }
    }

    /** A master of this name holds the Lease. */
    public void masterSeen(String name) {
        if (!name.equals(settings.name())) {
            blindLeader.otherMasterSeen();
        }
    }

    /** Another master has dialled this one, to see whether the leader is there. */
    public void lookedFor(long now) {
        at(now);
        blindLeader.lookedFor(nowMs);
    }

    private void lookAround() {
        if (nowMs - reachMs < Bounds.REACH_LOOK_MS) {
            return;
        }
        reachMs = nowMs;
        if (blindLeader.look(leadership.leads(), reach.seen(), reach.isOfEngines(), nowMs)) {
            counters.add(Count.HANDOVERS_BLIND);
            outbox.report(
                    "only %s are connected to this leader with %s, for %d ms: it hands over to a master that may see more; if storage nodes run, see what keeps them from its port (network policies, routes, its certificate)"
                            .formatted(reach, leadership.authority(), blindLeader.blindForMs(nowMs)));
            outbox.handOver(leadership.authority());
        }
    }

    private void requirePossible(NodeView node) {
        if (Long.compareUnsigned(node.highestObjectEpoch(), leadership.objectEpochMax()) > 0) {
            throw ViewDefect.overNode(
                    node.peer(),
                    new IllegalStateException(
                            "it has told of an object of epoch %d, no leader can have had one above %d"
                                    .formatted(node.highestObjectEpoch(), leadership.objectEpochMax())));
        }
    }

    /** The Lease was renewed. */
    public void renewed(long validUntilMs, long now) {
        at(now);
        if (leadership.leads()) {
            leadership.renewed(validUntilMs);
            assurance.renewed(validUntilMs, nowMs);
        }
    }

    /** The Lease is somebody else's, or nobody's. */
    public void standBy(String reason, long now) {
        at(now);
        requests.endTerm();
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

    /** The Lease is not given back after all. */
    public void stay() {
        leadership.stay();
    }

    /** Whether a client waits for an answer. */
    public boolean hasWaiting() {
        return replies.isWaiting();
    }

    /** The Lease was given back: the nodes tell the other masters, who need not wait for their next look at it. */
    public void left(Authority authority) {
        for (NodeView node : view.membership().all()) {
            if (node.isConnected()) {
                outbox.send(node.session(), new LeaderLeaves(authority));
            }
        }
    }

    /** The nodes that should be there from now on, and the zone each is said to be in, empty where none is. */
    public void expectNodes(Map<String, String> zones, long now) {
        at(now);
        if (view.membership().expect(zones)) {
            upkeep.zonesChanged();
        }
        for (NodeView squatter : view.membership().squatters()) {
            end(squatter.session(), "node " + squatter.id + " is a storage node of this pool from now on");
            if (squatter.isTransient()) {
                heartbeats.left(squatter);
            }
        }
        takeover.serveWhenReady(nowMs);
    }

    /**
     * Goes by these rules from now on, leader or standby. Objects that are published get as many copies as the pool wants now, if
     * that is more; what has more keeps them. What was promised to readers holds.
     */
    public void goBy(CacheRules next, long now) {
        at(now);
        CacheRules before = rules.all();
        rules.become(next);
        upkeep.rulesChanged(nowMs);
        if (next.objectLeaseMs() > before.objectLeaseMs()) {
            takeover.leasesGrow(nowMs);
        }
        if (next.replicas() != before.replicas()) {
            view.index()
                    .wantCopies(
                            next.replicas(), newestKnown(), view.membership().all());
        }
    }

    private ObjectId newestKnown() {
        return leadership.leads()
                ? leadership.nextObjectId()
                : new ObjectId(view.index().highestEpoch(), -1);
    }

    // ---- time ---------------------------------------------------------------------------------------------------

    /**
     * To be called every 10 ms or so.
     *
     * @throws ViewDefect when this core could not bear an object that nodes have shown, and must be followed by one {@link #withoutView}
     */
    public void tick(long now) {
        at(now);
        try {
            goOn();
        } catch (RuntimeException | AssertionError | StackOverflowError e) {
            List<NodePeer> holders = view.index().holdersOfLatest();
            if (holders.isEmpty()) {
                throw e;
            }
            throw ViewDefect.overObject(holders, e);
        }
    }

    private void goOn() {
        step(this::endSilent);
        step(() -> nodeMessages.tick(nowMs));
        step(() -> looks.tick(nowMs));
        step(this::lookAround);
        step(() -> takeover.tick(nowMs));
        step(() -> requests.tick(nowMs));
        step(() -> orders.frees().tick(nowMs));
        step(() -> orders.frees()
                .overdueEngines()
                .forEach(engine -> broke(engine, "it does not free what it is told to")));
        step(() -> orders.purges()
                .takeOverdueEngines()
                .forEach(engine -> broke(engine, "it does not do what it is told")));
        upkeep.tick(nowMs, this::step);
        upkeep.makeRoom(nowMs, this::step);
        step(() -> view.room().tick().ifPresent(outbox::report));
        step(() -> setApart.tick(nowMs));
        step(this::sendWhatWaits);
    }

    /** What an earlier step looked at last is not to blame for what this one throws. */
    private void step(Runnable step) {
        view.index().lookingAtNone();
        step.run();
    }

    private void endSilent() {
        for (Heartbeats.Silent silent : heartbeats.tick(nowMs)) {
            boolean isNode = view.membership().bySession(silent.session()) != null;
            counters.add(Count.CLIENTS_SILENT, isNode ? 0 : 1);
            outbox.close(silent.session(), silent.reason());
            closed(silent.session(), silent.reason(), nowMs);
        }
    }

    // ---- answers ------------------------------------------------------------------------------------------------

    /** What is to be done since the last call, in order. */
    public List<Action> drain() {
        return outbox.drain();
    }

    public PoolStatus status() {
        return report.now(clients.count(), nowMs);
    }

    /** Keys of a tenant that can be read here now, as its clients know them; at most {@code limit} of them, in no order. */
    public List<String> keys(Tenant tenant, int limit) {
        return leadership.leads()
                ? view.index().publishedKeys(tenant, limit).stream()
                        .map(key -> Tenant.unqualified(key).toString())
                        .toList()
                : List.of();
    }

    /** What changes here for readers, for those who want to follow it. */
    public ChangeReport changes() {
        return changeReport;
    }

    /** The nodes that hold the published object of a qualified key; empty when there is none. Leases nothing. */
    public List<String> holders(Key key) {
        List<String> holders = new ArrayList<>();
        StoredObject object = leadership.leads() ? view.index().published(key) : null;
        if (object != null) {
            object.replicas().forEach(replica -> holders.add(replica.node().id));
        }
        return holders;
    }

    /** Whether a qualified key can be read here, and if not, why; empty when this master does not serve as leader. */
    public Optional<KeyStatus> explain(Key key, long now) {
        at(now);
        return leadership.serves(now) ? Optional.of(keyReport.of(key, nowMs)) : Optional.empty();
    }

    /**
     * Begins to empty a node, or begins anew.
     *
     * @param clears whether nothing is to be left there, not even what others have too
     * @param startedAtMs what people shall be told as the time it began
     * @return why that is not possible here and now, or nothing
     */
    public Optional<String> drain(String node, boolean clears, long timeoutMs, long startedAtMs, long now) {
        at(now);
        if (!leadership.serves(now)) {
            return Optional.of(NOT_SERVING);
        }
        Optional<String> objection = upkeep.drain(node, clears, timeoutMs, startedAtMs, now);
        if (objection.isEmpty() && !register.wanted().drains().containsKey(node)) {
            upkeep.cancelDrain(node, now);
            return Optional.of("the register of the pool has no room for it: wait until other drains are over");
        }
        return objection;
    }

    /** Calls back when the next leader will know of all that was asked of this leader until now, in this term or never. */
    public void whenKept(Runnable then) {
        register.whenWantedIsSure(then);
    }

    /**
     * A person says that a node will not come back, or that what it knows must not be waited for: it is behind, or a witness, no more.
     * Should it come, it drops what it holds.
     *
     * @return why that is not possible here and now, or nothing
     */
    public Optional<String> forget(String node, long now) {
        at(now);
        if (!leadership.serves(now)) {
            return Optional.of(NOT_SERVING);
        }
        if (!register.isPossible(it -> it.isMember(node))) {
            return Optional.of("the register has no node " + node);
        }
        orders.absences().forget(node);
        outbox.report("node %s is forgotten, as a person wants: %s".formatted(node, register.wanted()));
        sendWhatWaits();
        return Optional.empty();
    }

    /** Whether this master serves; another one may be about to. */
    public boolean serves() {
        return leadership.serves(nowMs);
    }

    /** Ends the emptying of a node, which takes part again; false when there is none, and the register knows that. */
    public boolean cancelDrain(String node) {
        return serves() && upkeep.cancelDrain(node, nowMs);
    }

    /** How far the drains of this leader are. */
    public List<DrainStatus> drains() {
        return upkeep.drains().status();
    }

    /** The versions the pool speaks and writes, as far as its nodes have told this master. */
    public ActiveVersions activeVersions() {
        return upkeep.activation().ofPool();
    }

    /**
     * Has every node go over to these versions; the caller has looked whether all builds know them.
     *
     * @return why that is not possible here and now, or nothing
     */
    public Optional<String> activate(ActiveVersions versions, long now) {
        at(now);
        if (!leadership.serves(now)) {
            return Optional.of(NOT_SERVING);
        }
        if (!view.membership().isAllInView()) {
            return Optional.of("not all expected nodes take part; wait for them");
        }
        upkeep.activation().raise(versions);
        return Optional.empty();
    }

    private void lose(NodeView node, String reason) {
        away(node, reason);
        requests.publishes().disconnected(nowMs);
    }

    private void away(NodeView node, String reason) {
        outbox.report("node %s away with %d objects: %s".formatted(node.id, node.replicaCount(), reason));
        orders.absences().left(node);
        orders.frees().abandon(node);
        orders.frees().goOnTakingBack(Bounds.FREES_TAKEN_BACK_PER_TICK);
        view.index().disconnected(node);
        view.membership().disconnect(node, reason, nowMs);
        upkeep.abandon(node);
    }

    private void at(long now) {
        nowMs = now;
        view.removals().at(nowMs);
        assurance.look(nowMs);
    }

    private void left(NodeView node) {
        counters.add(Count.NODES_LEFT);
        outbox.close(node.session(), "the node left");
        lose(node, "it ended in order");
        view.membership().ended(node);
        heartbeats.left(node);
    }

    private void sendWhatWaits() {
        register.send();
        if (leadership.phase() == Leadership.Phase.SERVING) {
            orders.frees().send(leadership.authority());
            upkeep.send(nowMs);
        }
        requests.answerLeaderQuestions(nowMs);
    }
}
