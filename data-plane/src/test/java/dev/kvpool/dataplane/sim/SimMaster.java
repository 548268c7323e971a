// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.election.LeaseRecord;
import dev.kvpool.dataplane.election.MemoryLeaseStore;
import dev.kvpool.dataplane.election.Term;
import dev.kvpool.dataplane.master.LeaderProbe.Finding;
import dev.kvpool.dataplane.master.SilentLeader;
import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.CoreSettings;
import dev.kvpool.dataplane.master.core.base.DrainStatus;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.Objection;
import dev.kvpool.dataplane.master.core.base.ViewDefect;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.master.core.request.QualifiedRequest;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.Handshake;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Refused;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeCommand;
import dev.kvpool.dataplane.wire.message.NodeCommand.KeepTombstones;
import dev.kvpool.dataplane.wire.message.NodeMessage.CommandAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.FenceAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeLeaves;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import dev.kvpool.nativelib.VersionRange;
import dev.kvpool.wire.Medium;
import dev.kvpool.wire.Role;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.BiPredicate;

/** A master: the production core, codecs, handshake and election, with this class as the event loop around them. */
final class SimMaster extends SimProcess {
    private static final long TICK_MS = 10;
    static final int RAISED_WIRE = 2;
    private static final long HELLO_MS_MAX = 5_000;
    private static final long HAND_OVER_MS_MAX = 500;
    private static final long PROBE_MS_MAX = 500;

    /** How long a node that has ended may be remembered. */
    private static final long FORGETS_MS_MAX = 100;

    /** What a dial of a leader has found. */
    record Found(Authority authority, Finding finding, long atMs) {}

    /** A welcomed connection. */
    private record Session(
            long number, End end, NodePeer node, Map<Long, ClientRequest> asked, Map<Long, ObjectId> purges) {}

    final String address;
    final SimElection election;
    final Poison poison;
    private final Lies lies;

    private final UUID pool;
    private CoreSettings settings;
    private Set<String> expected;

    /** What it was told of that: one that was stopped meanwhile goes by what it had read. */
    private Set<String> heardOf = Set.of();

    private long expectsSinceMs;
    private final MasterWatch watch;

    /** Whether there are nodes that a leader may forget. */
    private final boolean forgets;

    private OutOfSight outOfSight;

    /** Keys of the publishes that were answered since the last tick. */
    private final Set<String> published = new TreeSet<>();

    private final MessageBytes codec = new MessageBytes();
    private final Map<Long, Session> sessions = new TreeMap<>();
    private MasterCore core;
    private Handshake.Self self;
    private long lastSession;
    private long wallClockOffMs;
    private SilentLeader silentLeader;
    private Found lastFound;

    /** When nodes said that they end, by id. */
    private final Map<String, Long> ended = new HashMap<>();

    /** The message that is being seen to, or null. */
    private Message now;

    SimMaster(
            Network network,
            UUID pool,
            CoreSettings settings,
            Set<String> expected,
            SimTimes times,
            MemoryLeaseStore leases,
            boolean forgets,
            Lies lies,
            MasterWatch watch) {
        super(network, settings.name());
        this.address = name + ":0";
        this.pool = pool;
        this.settings = settings;
        this.expected = expected;
        this.forgets = forgets;
        this.watch = watch;
        this.lies = lies;
        this.poison = new Poison(network.world);
        this.election = new SimElection(this, times.election(), leases);
        network.listen(address, this);
    }

    /** What people read in the Lease, and no master decides by. */
    Instant wallClock() {
        return Instant.ofEpochMilli(clockMs() + wallClockOffMs);
    }

    /** Somebody or something sets the time of day of its machine. */
    void setWallClock(long byMs) {
        world.trace(() -> "the wall clock of " + name + " leaps by " + byMs + " ms");
        wallClockOffMs += byMs;
    }

    PoolStatus status() {
        return core.status();
    }

    /** Leads, and is within its renew deadline, by its own clock. */
    boolean serves() {
        return isUp() && core.status().isLeader(clockMs());
    }

    @Override
    void begin() {
        self = new Handshake.Self(name, pool, world.random.nextLong(1, Long.MAX_VALUE), versions());
        expectsSinceMs = world.nowMs();
        heardOf = expected;
        core = new MasterCore(settings, expected, new Random(world.random.nextLong()), new Random(1));
        sessions.clear();
        ended.clear();
        poison.forget();
        silentLeader = new SilentLeader();
        lastFound = null;
        election.begin(self.incarnation());
        every(TICK_MS, this::tick);
    }

    @Override
    void end() {
        sessions.clear();
    }

    private void tick() {
        // One that does not lead neither evicts nor forgets.
        Optional<OutOfSight> gone =
                core.authority().equals(Authority.NONE) ? Optional.empty() : Optional.of(outOfSight());
        published.clear();
        gone.ifPresent(OutOfSight::beforeTick);
        core.tick(clockMs());
        List<Action> actions = core.drain();
        gone.ifPresent(it -> it.afterTick(actions));
        actions.forEach(this::perform);
        perform();
        gone.ifPresent(it -> it.afterActions(published));
        election.turned();
    }

    private OutOfSight outOfSight() {
        if (outOfSight == null || !outOfSight.isOf(core)) {
            outOfSight = new OutOfSight(this, core, watch, forgets);
        }
        return outOfSight;
    }

    /** Begins to empty a node if this master leads and the node takes part; every second time nothing is to be left there. */
    boolean drain(String node, long timeoutMs) {
        boolean begun = core.drain(node, timeoutMs % 2 == 0, timeoutMs, world.nowMs(), clockMs())
                .isEmpty();
        if (begun) {
            core.whenKept(watch.drainBegins(this, node));
        }
        perform();
        return begun;
    }

    /** As of this build, and the next wire version. */
    private static Versions versions() {
        Versions build = Versions.ofThisBuild();
        return new Versions(build.product(), new VersionRange(1, RAISED_WIRE), build.layout(), build.abi());
    }

    /** Has the pool speak the next wire version; whether this master leads and all nodes take part. */
    boolean raise() {
        boolean begun =
                core.activate(new ActiveVersions(RAISED_WIRE, 1), clockMs()).isEmpty();
        perform();
        return begun;
    }

    /** Its file of cache rules says this from now on; one that does not run, or is stopped, at its next start. */
    void goBy(CacheRules rules) {
        settings = settings.with(rules);
        if (hears()) {
            core.goBy(rules, clockMs());
            perform();
        }
    }

    /** Its list of nodes says this from now on; one that does not run, or is stopped, reads it at its next start. */
    void expect(Set<String> ids) {
        expected = ids;
        if (hears()) {
            expectsSinceMs = world.nowMs();
            heardOf = ids;
            Map<String, String> zones = new TreeMap<>();
            ids.forEach(id -> zones.put(id, ""));
            core.expectNodes(zones, clockMs());
            perform();
        }
    }

    /** Ids of the nodes that say whether a leader is heard: those it expects, in a pool of engines alone those that it has read of. */
    Set<String> electorate() {
        if (!heardOf.isEmpty()) {
            return heardOf;
        }
        return register().members().keySet();
    }

    boolean drains(String node) {
        return core.drains().stream().anyMatch(drain -> drain.node().equals(node));
    }

    void cancelDrain(String node) {
        watch.drainIsCancelled(node);
        core.cancelDrain(node);
        perform();
    }

    /** What a person does who is told that the memory of the last witness is lost: nobody who knows more will come. */
    boolean giveLostWitnessesUp(BiPredicate<String, Long> isLost) {
        boolean[] any = {false};
        if (awaitsWitness()) {
            register().witnesses().forEach((node, memory) -> {
                if (isLost.test(node, memory)) {
                    world.trace(() -> name + " forgets " + node);
                    core.forget(node, clockMs());
                    any[0] = true;
                }
            });
            perform();
        }
        return any[0];
    }

    /** Nodes whose emptying another leader has begun, and nobody has cancelled under this one, take part again. */
    void cancelDrains() {
        for (DrainStatus drain : core.status().drains()) {
            cancelDrain(drain.node());
        }
    }

    /** Whether every node of the pool has told this leader what it holds, of a key that it does not show. */
    boolean hasHeardAll(String key) {
        return core.explain(Key.of(key), clockMs())
                .map(status -> status.unheard().isEmpty())
                .orElse(false);
    }

    /** Whether this master shows an object under a key now. */
    boolean shows(String key) {
        return !core.holders(Key.of(key)).isEmpty();
    }

    Register register() {
        return core.status().register().register();
    }

    /** Nodes are behind, and it has met none that knows what they have missed. */
    boolean awaitsWitness() {
        return core.status().register().awaitsWitness();
    }

    /** Since when it expects the nodes that it does. */
    long expectsSinceMs() {
        return expectsSinceMs;
    }

    /** For how long it has not renewed the Lease. */
    long notRenewedMs() {
        return clockMs() - election.renewedMs();
    }

    private Set<String> ready() {
        Set<String> ready = new TreeSet<>();
        for (PoolStatus.Node node : core.status().nodes()) {
            if (node.state() == PoolStatus.NodeState.READY) {
                ready.add(node.id());
            }
        }
        return ready;
    }

    /** Whether a node takes part, and the register has it. */
    boolean uses(String node) {
        return ready().contains(node) && register().isMember(node);
    }

    /** Whether the object of a key is on a node that takes part, as most expected ones do, and no witness must be waited for. */
    boolean canRemove(String key) {
        if (awaitsWitness()) {
            return false;
        }
        Set<String> ready = ready();
        boolean readable = core.holders(Key.of(key)).stream().anyMatch(ready::contains);
        return readable && 2 * expected.stream().filter(ready::contains).count() > expected.size();
    }

    /** Whether all that it knows to have the object of a key have told it, a while ago, that they and their memory end. */
    boolean waitsForEnded(String key) {
        long untilMs = world.nowMs() - FORGETS_MS_MAX;
        List<String> holders = core.holders(Key.of(key));
        return untilMs > thawedMs()
                && !holders.isEmpty()
                && holders.stream().allMatch(node -> ended.getOrDefault(node, Long.MAX_VALUE) < untilMs);
    }

    // ---- leadership ---------------------------------------------------------------------------------------------

    void lead(Term term) {
        watch.leads(this, term.authority());
        core.lead(term.authority(), term.validUntilMs(), term.predecessorUntilMs(), term.register(), clockMs());
        perform();
    }

    /** This master has asked for it. */
    void registerStored(Register register) {
        core.registerStored(register, clockMs());
        perform();
    }

    void leaseSeen(LeaseRecord lease) {
        try {
            core.leaseSeen(lease.transitions(), lease.register(), clockMs());
            if (lease.isHeld()) {
                core.masterSeen(lease.holderName());
            }
        } catch (ViewDefect e) {
            dropView(e);
        }
        perform();
    }

    void taken(Term term) {
        watch.taken(term);
    }

    /** It is in the Lease, of which the core hears later. */
    void stored(Register register) {
        watch.stored(register);
    }

    void renewed(long validUntilMs) {
        core.renewed(validUntilMs, clockMs());
    }

    void standBy(String reason) {
        core.standBy(reason, clockMs());
        perform();
    }

    /** As on SIGTERM: the Lease is given back, the nodes tell the others. */
    void leave(Runnable whenEnded) {
        Authority ours = core.leave();
        perform();
        in(world.between(0, HAND_OVER_MS_MAX), () -> {
            standBy("this master is being stopped");
            election.release();
            if (!ours.equals(Authority.NONE)) {
                core.left(ours);
                perform();
            }
            in(0, () -> {
                crash();
                whenEnded.run();
            });
        });
    }

    /** As on {@code POST /api/v1/handover}: this master goes on as a standby. */
    private void handOver() {
        watch.handsOverBlind();
        Authority ours = core.leave();
        in(world.between(0, HAND_OVER_MS_MAX), () -> {
            standBy("the leadership is handed over");
            election.giveAway(ours);
            in(world.between(5, 20), () -> {
                core.left(ours);
                perform();
            });
        });
    }

    /** Dials a leader that is said to be gone; nothing follows unless nobody listens there, or somebody else. */
    private void probe(Authority authority, String where) {
        in(network.delayMs(), () -> {
            if (network.reachable(this, where) instanceof SimMaster other && other.isGone(authority.nonce())) {
                world.trace(() -> name + " finds that the leader at " + where + " is gone");
                election.take(authority);
            }
        });
    }

    /** Most nodes hear nothing of the leader: what {@code EarlyTakeover} does about it, over this network. */
    private void silent(Action.LeaderSilent told) {
        switch (silentLeader.silent(told.authority(), told.proved(), clockMs())) {
            case NOTHING -> {}
            case PROBE -> {
                election.lookNow();
                probeSilent(told.authority(), told.address());
            }
            case TAKE -> {
                long agoMs = clockMs() - told.atMs();
                watch.followsSilent(this, told.authority(), world.nowMs() - agoMs, lastFound);
                election.takeSilent(told.authority(), told.atMs());
            }
        }
    }

    private void probeSilent(Authority authority, String where) {
        SimProcess there = network.reachable(this, where);
        boolean answers = there instanceof SimMaster other && (!other.isUp() || !other.isFrozen());
        beside(answers ? network.delayMs() : PROBE_MS_MAX, () -> {
            Finding finding = Finding.UNKNOWN;
            if (answers && network.reachable(this, where) instanceof SimMaster other && !other.isFrozen()) {
                finding = other.isGone(authority.nonce()) ? Finding.GONE : Finding.THERE;
                if (finding == Finding.THERE) {
                    other.core.lookedFor(other.clockMs());
                }
            }
            Finding found = finding;
            world.trace(() -> name + " looked for the silent leader with " + authority + ": " + found);
            lastFound = new Found(authority, finding, world.nowMs());
            silentLeader.found(authority, finding, clockMs());
        });
    }

    long incarnation() {
        return self.incarnation();
    }

    /** What a dial finds: a stopped process accepts and says nothing. */
    private boolean isGone(long incarnation) {
        return !isUp() || (!isFrozen() && self.incarnation() != incarnation);
    }

    // ---- connections --------------------------------------------------------------------------------------------

    @Override
    void accepted(End end) {
        in(HELLO_MS_MAX, () -> {
            if (end.note == null && end.isOpen()) {
                refuse(end, Handshake.noHello(self, "none came within " + HELLO_MS_MAX + " ms"));
            }
        });
    }

    @Override
    void opened(End end) {
        throw new AssertionError("a master dials nobody");
    }

    @Override
    void dialFailed(End end, String reason, boolean refused) {
        opened(end);
    }

    @Override
    void payload(End end, byte[] bytes, long at, boolean last, int crc) {
        throw new AssertionError("a payload came to a master");
    }

    @Override
    void frame(End end, byte[] body) {
        Message message = codec.decode(body, name);
        if (end.note instanceof Session session) {
            if (message instanceof ClientRequest request) {
                SimProcess client = end.peer().owner;
                session.asked.put(request.requestId(), QualifiedRequest.of(Load.tenantOf(client), request));
            }
            heardPurge(session, message);
            now = message;
            if (message instanceof NodeLeaves) {
                // The next life may have begun under another name when this comes.
                ended.put(session.node.id(), world.nowMs());
            }
            receive(session, message);
            now = null;
        } else if (message instanceof Hello hello) {
            greet(end, hello);
        } else {
            refuse(end, Handshake.noHello(self, message.getClass().getSimpleName() + " came"));
        }
    }

    private void heardPurge(Session session, Message message) {
        ObjectId below = switch (message) {
            case CommandAck ack
            when ack.accepted() && ack.status() == Status.OK -> session.purges.remove(ack.requestId());
            case FenceAck ack when ack.accepted() -> ack.purgeId();
            default -> null;
        };
        if (below != null && !session.end.peer().isClosed()) {
            watch.purged((SimNode) session.end.peer().owner, below);
        }
    }

    private void receive(Session session, Message message) {
        try {
            Message told = lies.in(session.end.peer().owner, message);
            core.receive(session.number, poison.in(session.node, told), clockMs());
        } catch (ViewDefect e) {
            if (!poison.isOf(session.node)) {
                throw e; // not planted, but found
            }
            poison.thrown(this, session.node);
            dropView(e);
        }
        perform();
    }

    /** As the event loop does it. */
    private void dropView(ViewDefect defect) {
        world.trace(() -> name + " drops its view: " + defect.getMessage());
        Authority ours = core.authority();
        core = core.withoutView(defect, clockMs());
        List<Session> open = List.copyOf(sessions.values());
        sessions.clear();
        open.forEach(session -> session.end.close());
        if (!ours.equals(Authority.NONE)) {
            election.giveAway(ours);
        }
    }

    private void greet(End end, Hello hello) {
        switch (Handshake.answer(hello, self, core.activeVersions())) {
            case Welcome welcome -> admit(end, hello, welcome);
            case Refused refused -> refuse(end, refused);
        }
    }

    private void admit(End end, Hello hello, Welcome welcome) {
        lastSession++;
        SimProcess dialler = end.peer().owner;
        NodePeer peer = NodePeer.of(hello, dialler instanceof SimNode node ? node.tenant : Optional.empty());
        Optional<Tenant> tenant = dialler instanceof SimClient client ? client.tenant : Optional.empty();
        Optional<Objection> objection = hello.role() == Role.NODE
                ? core.nodeConnected(lastSession, peer, clockMs())
                : core.clientConnected(lastSession, hello.name() + "/" + hello.incarnation(), tenant, clockMs());
        if (objection.isPresent()) {
            refuse(
                    end,
                    Handshake.refused(
                            self, objection.get().code(), objection.get().message()));
        } else {
            Session session = new Session(
                    lastSession, end, hello.role() == Role.NODE ? peer : null, new HashMap<>(), new HashMap<>());
            sessions.put(session.number, session);
            end.note = session;
            write(end, welcome);
        }
        perform();
    }

    private void refuse(End end, Refused refused) {
        world.trace(() -> name + " refuses " + end.peer().owner + ": " + refused.message());
        write(end, refused);
        end.close();
    }

    @Override
    void closed(End end, String reason) {
        if (end.note instanceof Session session && sessions.remove(session.number) != null) {
            core.closed(session.number, reason, clockMs());
            perform();
        }
    }

    // ---- what to do ---------------------------------------------------------------------------------------------

    private void perform() {
        for (List<Action> actions = core.drain(); !actions.isEmpty(); actions = core.drain()) {
            actions.forEach(this::perform);
        }
    }

    private void perform(Action action) {
        switch (action) {
            case Action.Send it -> send(it);
            case Action.Close it -> close(it);
            case Action.RaiseEpoch it -> election.raiseAbove(it.above());
            case Action.StoreRegister it -> election.store(it.leader(), it.register());
            case Action.LookAtLease it -> election.lookNow();
            case Action.HandOver it -> handOver();
            case Action.LeaderSilent it -> silent(it);
            case Action.LeaderCrashed it -> probe(it.authority(), it.address());
            case Action.Report it -> world.trace(() -> name + ": " + it.line());
            case Action.Changed it -> {} // there are no subscribers
            case Action.Evicted it -> world.trace(() -> name + " evicts " + it);
        }
    }

    private void send(Action.Send send) {
        Session session = sessions.get(send.session());
        if (session == null) {
            return;
        }
        if (send.message() instanceof ClientReply reply) {
            ClientRequest request = session.asked.remove(reply.requestId());
            world.trace(() -> name + " answers " + session.end.peer().owner + " " + request + " with " + reply);
            watch.replied(this, request, reply, request != null && request.equals(now));
            if (request instanceof PublishRequest publish) {
                publish.puts().forEach(put -> published.add(put.key().toString()));
            }
        }
        if (send.message() instanceof NodeCommand.Copy copy && copy.medium() == Medium.DRAM) {
            watch.copies(copy.objectId());
        }
        if (send.message() instanceof NodeCommand.Purge purge) {
            session.purges.put(purge.requestId(), purge.purgeId());
        }
        if (send.message() instanceof NodeCommand command) {
            world.trace(() -> name + " tells " + session.end.peer().owner + " " + command);
        }
        if (send.message() instanceof KeepTombstones keep
                && session.end.peer().owner instanceof SimNode node
                && node.isFullOfTombstones()) {
            in(network.delayMs(), () -> refused(session, keep));
            return;
        }
        write(session.end, send.message());
    }

    /** The node has no room for one tombstone more. */
    private void refused(Session session, KeepTombstones keep) {
        if (sessions.containsKey(session.number)) {
            receive(session, new CommandAck(keep.requestId(), true, keep.authority(), Status.NO_SPACE));
        }
    }

    private void write(End end, Message message) {
        end.send(codec.encode(message));
    }

    private void close(Action.Close close) {
        Session session = sessions.remove(close.session());
        if (session != null) {
            world.trace(() -> name + " closes the connection of " + session.end.peer().owner + ": " + close.reason());
            session.end.close();
            in(0, () -> {
                core.closed(close.session(), close.reason(), clockMs());
                perform();
            });
        }
    }
}
