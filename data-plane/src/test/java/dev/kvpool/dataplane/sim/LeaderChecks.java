// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.election.Term;
import dev.kvpool.dataplane.master.LeaderProbe.Finding;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.register.Member;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply;
import dev.kvpool.dataplane.wire.message.ClientReply.ExistsReply;
import dev.kvpool.dataplane.wire.message.ClientReply.Found;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientReply.NodeRef;
import dev.kvpool.dataplane.wire.message.ClientReply.PublishReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.Put;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/** What must hold for each answer a master gives, at the moment it gives it. */
final class LeaderChecks implements MasterWatch {
    /** How long a publish may wait for the others of its batch, in the master and in stopped processes. */
    private static final long PUBLISH_MS_MAX = 15_000;

    /** How long a leader, stopped for a while in between, may take a node for alive that is not. */
    private static final long NOTICE_MS_MAX = 15_000;

    /** No other has followed a leader that renewed its Lease so lately, nor one that so many nodes have answered. */
    private static final long SURE_MS = 1_250;

    /** How long ago a node died that every leader knows to be away. */
    private static final long AWAY_MS = 5_000;

    /** How long a dial counts, and for how long nodes must have heard nothing. */
    private static final long FOUND_MS_MAX = 1_000;

    private static final long SILENT_MS = 1_200;

    /** By then a process that others can reach again is connected to all of them. */
    private static final long WELL_MS = 10_000;

    private final World world;
    private final SimTimes times;
    private final Truth truth;
    private final Promises promises;
    private final Tally tally;
    private final Lies lies;
    private final long foundMsMax;
    private final boolean available;
    private final boolean scales;
    private final long driftMs;
    private final boolean garbling;
    private final boolean engines;
    private final boolean tenants;
    private final List<SimMaster> masters = new ArrayList<>();
    private final Set<Authority> terms = new HashSet<>();
    private long highestEpoch;
    private int begunWithRegister;

    /** Epochs of leaders after a Lease that was deleted or set back: nodes away may know of later removals of what these grant. */
    private final Set<Long> setBackEpochs = new HashSet<>();

    /** The register as it was stored, or taken, last. */
    private Register stored = Register.NONE;

    private long storedMs;

    /** When a leader has answered a request last. */
    private long answeredMs;

    /** Since when it has the storage nodes that it has. */
    private long electedSinceMs;

    /** The latest drain of each node that was not cancelled. */
    private final Map<String, Long> drains = new TreeMap<>();

    private long lastDrain;

    /** Lives of nodes that leaders have said they empty. */
    private final Map<String, Long> drained = new TreeMap<>();

    LeaderChecks(World world, Plan plan, Truth truth, Promises promises, Tally tally, Lies lies) {
        this.world = world;
        this.times = plan.times();
        this.available = plan.available();
        this.scales = plan.spareNodes() > 0;
        this.driftMs = plan.driftMs(SURE_MS);
        this.garbling = plan.corrupting();
        this.engines = plan.nodes() == 0;
        this.tenants = !plan.tenants().isEmpty();
        this.foundMsMax = FOUND_MS_MAX + plan.driftMs(FOUND_MS_MAX);
        this.truth = truth;
        this.promises = promises;
        this.tally = tally;
        this.lies = lies;
    }

    void add(SimMaster master) {
        masters.add(master);
    }

    long highestEpoch() {
        return highestEpoch;
    }

    /** Whether the latest two leaders have begun with a register. */
    boolean haveReadRegister() {
        return begunWithRegister > 1;
    }

    @Override
    public void leads(SimMaster master, Authority authority) {
        Violation.unless(terms.add(authority), "one leader a term", "%s leads again under %s", master, authority);
        lies.leads(authority);
        boolean epochIsNew =
                terms.stream().filter(it -> it.epoch() == authority.epoch()).count() == 1;
        Violation.unless(
                epochIsNew || truth.wasTamperedSince(Long.MIN_VALUE + 1),
                "one leader a term",
                "%s leads under epoch %d, which another had",
                master,
                authority.epoch());
        if (authority.epoch() < highestEpoch || !epochIsNew) {
            setBackEpochs.add(authority.epoch());
        }
        highestEpoch = Math.max(highestEpoch, authority.epoch());
    }

    @Override
    public void handsOverBlind() {
        tally.count("leadership handed over by a leader that saw too little");
    }

    @Override
    public void followsSilent(SimMaster master, Authority leader, long atMs, SimMaster.Found found) {
        tally.count("silent leader looked after");
        boolean dialled =
                found != null && found.authority().equals(leader) && world.nowMs() - found.atMs() <= foundMsMax;
        Violation.unless(
                dialled && found.finding() != Finding.THERE,
                "a leader that answers is not followed",
                "%s follows the leader with %s, of which it knows: %s",
                master,
                leader,
                found);
        Set<String> asked = master.electorate();
        long deaf = asked.stream()
                .filter(id -> !hasHeard(truth.node(id), leader, atMs))
                .count();
        Violation.unless(
                !engines || !tenants,
                "a leader that most nodes hear is not followed",
                "%s follows the leader with %s by the word of engines of tenants",
                master,
                leader);
        Violation.unless(
                2 * deaf > asked.size(),
                "a leader that most nodes hear is not followed",
                "%s follows the leader with %s, of which only %d of %d nodes heard nothing in the %d ms before %d",
                master,
                leader,
                deaf,
                asked.size(),
                SILENT_MS,
                atMs);
    }

    /** An engine's node that has ended, whose name nothing has any more, hears nothing. */
    private static boolean hasHeard(SimNode node, Authority leader, long atMs) {
        return node != null && node.hasHeard(leader.nonce(), atMs - SILENT_MS, atMs);
    }

    @Override
    public void taken(Term term) {
        tally.count("Lease taken: " + term.succession().cause());
        boolean wentBack = stored.isNewerThan(term.register());
        Violation.unless(
                !wentBack || truth.wasTamperedSince(storedMs),
                "the register never goes back",
                "a leader begins with %s, after %s",
                term.register(),
                stored);
        if (wentBack || (term.register().isLost() && !terms.isEmpty())) {
            tally.count("register lost");
            truth.registerLost();
        }
        begunWithRegister = term.register().isLost() ? 0 : begunWithRegister + 1;
        witnessed(term.register());
        // What a leader has decided about engines when it last answered is stored only now.
        stored(term.register(), answeredMs - WELL_MS);
    }

    @Override
    public void stored(Register register) {
        stored(register, world.nowMs() - WELL_MS);
    }

    private void stored(Register register, long wellSinceMs) {
        lies.stored(register);
        enginesStay(register, wellSinceMs);
        truth.members(register.members().keySet());
        witnessesStay(register);
        if (!storageNodes(stored).equals(storageNodes(register))) {
            electedSinceMs = world.nowMs();
        }
        stored = register;
        storedMs = world.nowMs();
    }

    private static Set<String> storageNodes(Register register) {
        Set<String> nodes = new TreeSet<>();
        register.members().forEach((id, member) -> {
            if (!member.isTransient()) {
                nodes.add(id);
            }
        });
        return nodes;
    }

    /** Only a person gives the last one up that knows what nodes away have missed, or a pool that serves what these show. */
    private void witnessesStay(Register next) {
        boolean givenUp = !stored.witnesses().isEmpty() && next.witnesses().isEmpty() && next.isAnyBehind();
        Violation.unless(
                !givenUp || available || truth.wasRegisterLost() || truth.wasTamperedSince(Long.MIN_VALUE + 1),
                "the last witness stays",
                "%s follows %s",
                next,
                stored);
    }

    /** Where masters may not expect the same nodes, a leader has only its Lease to be sure by. */
    private void electorateIsSure(SimMaster master) {
        answeredMs = world.nowMs();
        long sinceMs = world.nowMs() - SURE_MS - driftMs;
        boolean sameNodes = engines || storageNodes(stored).equals(master.electorate());
        Violation.unless(
                sameNodes
                        || master.notRenewedMs() <= SURE_MS
                        || master.expectsSinceMs() > sinceMs
                        || electedSinceMs > sinceMs
                        || truth.wasTamperedSince(Long.MIN_VALUE + 1),
                "serves within the deadline",
                "%s, which expects %s, answers %d ms after it renewed the Lease, which has %s",
                master,
                master.electorate(),
                master.notRenewedMs(),
                stored);
    }

    /** What an engine holds is given up with its place in the register. One whose frames break is left out for a while. */
    private void enginesStay(Register next, long wellSinceMs) {
        if (garbling || truth.wasTamperedSince(Long.MIN_VALUE + 1)) {
            return;
        }
        for (String id : stored.members().keySet()) {
            SimNode node = truth.node(id);
            boolean isStruckOff = node != null && node.isTransient && !next.isMember(id);
            Violation.unless(
                    !isStruckOff || !node.staysSince(wellSinceMs),
                    "an engine that is there stays a member",
                    "%s is struck off the register, though it has run and was reachable for %d ms",
                    node,
                    world.nowMs() - wellSinceMs);
        }
    }

    @Override
    public void purged(SimNode node, ObjectId below) {
        tally.count("purges answered");
        Violation.unless(
                node.hasPurgedSsd(below),
                "what is purged is dead on the SSD",
                "%s said that everything below %s is gone, and its SSD would show it to another memory",
                node,
                below);
    }

    @Override
    public Runnable drainBegins(SimMaster master, String node) {
        long number = ++lastDrain;
        long life = lifeKnownTo(master, node);
        drains.put(node, number);
        return () -> {
            if (drains.getOrDefault(node, 0L) == number) {
                tally.count("drains answered");
                Violation.unless(
                        stored.drains().containsKey(node),
                        "a drain that was begun goes on",
                        "that %s is emptied is said, and not in the Lease, which has %s",
                        node,
                        stored);
                drained.put(node, life);
            }
        };
    }

    /** A process that has just ended may be the one that a master has in view, and empties. */
    private static long lifeKnownTo(SimMaster master, String node) {
        return master.status().nodes().stream()
                .filter(it -> it.id().equals(node))
                .mapToLong(PoolStatus.Node::incarnation)
                .findAny()
                .orElseThrow();
    }

    @Override
    public void drainIsCancelled(String node) {
        drains.remove(node);
        drained.remove(node);
    }

    /** What was drained may leave, for good or to take part again as another process. */
    private void drainsGoOn(SimMaster master) {
        boolean knows = !scales
                && !truth.wasTamperedSince(Long.MIN_VALUE + 1)
                && master.status().epoch() == highestEpoch
                && master.serves(); // one that begins another term takes them up from the register first
        drained.entrySet().removeIf(it -> truth.node(it.getKey()).incarnation() != it.getValue());
        for (String node : knows ? drained.keySet() : Set.<String>of()) {
            Violation.unless(
                    master.drains(node),
                    "a drain that was begun goes on",
                    "%s does not empty %s, as it or a leader before has said",
                    master,
                    node);
        }
    }

    @Override
    public void copies(ObjectId id) {
        truth.copied(id);
    }

    @Override
    public void evicted(SimMaster master, Set<String> keys, boolean marked) {
        keys.forEach(key -> truth.evicted(key, marked));
    }

    @Override
    public void forgotten(Set<String> keys) {
        keys.forEach(truth::lost);
    }

    @Override
    public void replied(SimMaster master, ClientRequest request, ClientReply reply, boolean atOnce) {
        if (reply.status() != Status.OK) {
            return;
        }
        oneServes(master, reply);
        drainsGoOn(master);
        if (reply instanceof GrantReply || reply instanceof LookupReply) {
            electorateIsSure(master);
        }
        if (reply instanceof LookupReply) {
            witnessed(master.register());
        }
        switch (reply) {
            case GrantReply it -> {
                nodesObey(master, it);
                exist((GrantRequest) request, it);
            }
            case PublishReply it -> published(master, (PublishRequest) request, it);
            case LookupReply it -> found(master, (LookupRequest) request, it);
            case ExistsReply it -> asked(master, (ExistsRequest) request, it);
            case RemoveReply it -> {
                if (atOnce) {
                    removable(master, (RemoveRequest) request, it);
                    allAreAsked(master, (RemoveRequest) request, it);
                }
                removed(master, (RemoveRequest) request, it);
            }
            default -> {}
        }
    }

    /** An available pool serves what nodes show that are behind, whether those who know what they have missed are there or not. */
    private void witnessed(Register register) {
        if (available && !register.behind().isEmpty()) {
            tally.count("served what nodes show that are behind");
            truth.registerLost();
        }
    }

    /** Only within its deadline, and never two at once unless the Lease was tampered with. */
    private void oneServes(SimMaster master, ClientReply reply) {
        boolean readOnly = !(reply instanceof GrantReply || reply instanceof LookupReply);
        Violation.unless(
                readOnly || master.serves(),
                "serves within the deadline",
                "%s answers %s although its leadership ended",
                master,
                reply);
        long sinceMs = world.nowMs() - 2 * times.election().leaseDurationMs();
        for (SimMaster other : masters) {
            boolean both = other != master && !other.isFrozen() && other.serves() && master.serves();
            Violation.unless(
                    !both || truth.wasTamperedSince(sinceMs),
                    "one leader at a time",
                    "%s and %s serve at the same time",
                    master,
                    other);
        }
    }

    /** A leader may grant only on nodes that obey it, or already obey a later one. */
    private void nodesObey(SimMaster master, GrantReply reply) {
        for (NodeRef named : reply.nodes()) {
            SimNode node = truth.node(named.nodeId());
            if (node == null || !node.isUp() || node.incarnation() != named.incarnation()) {
                continue;
            }
            Authority seen = node.image.authority();
            Violation.unless(
                    Long.compareUnsigned(seen.epoch(), reply.authority().epoch()) >= 0,
                    "granted nodes are fenced",
                    "%s grants writes on %s under %s, but the node obeys %s",
                    master,
                    node,
                    reply.authority(),
                    seen);
        }
    }

    /** While most expected nodes take part, a removal can be written down for whoever is away, if a reader can find the object. */
    private static void removable(SimMaster master, RemoveRequest request, RemoveReply reply) {
        for (int i = 0; i < reply.results().size(); i++) {
            String key = request.keys().get(i).toString();
            Violation.unless(
                    reply.results().get(i) != Status.UNAVAILABLE || !master.canRemove(key),
                    "what can be read can be removed",
                    "%s answers UNAVAILABLE to a removal of %s, which is on a node that takes part, as do most expected ones",
                    master,
                    key);
        }
    }

    /** What a node has that did not tell the leader of it is there, and not removed. */
    private void allAreAsked(SimMaster master, RemoveRequest request, RemoveReply reply) {
        for (int i = 0; i < reply.results().size(); i++) {
            String key = request.keys().get(i).toString();
            ObjectId there = truth.removing(key);
            if (reply.results().get(i) == Status.NOT_FOUND && there != null && knowsLease(master)) {
                for (SimNode node : truth.nodes()) {
                    Violation.unless(
                            !isBelieved(node) || !Truth.holds(node, key, there),
                            "a removal that finds nothing has asked all",
                            "%s finds no %s to remove, of which %s has object %s",
                            master,
                            key,
                            node,
                            there);
                }
            }
        }
    }

    /** Whether a leader is the latest one, and no register was lost. */
    private boolean knowsLease(SimMaster master) {
        return master.status().epoch() == highestEpoch
                && !truth.wasRegisterLost()
                && !truth.wasTamperedSince(Long.MIN_VALUE + 1);
    }

    /** Whether the register has a node, with the memory that it has, as one that has missed nothing. */
    private boolean isBelieved(SimNode node) {
        Member member = stored.members().get(node.nodeId());
        return member != null && !member.isBehind() && (member.isTransient() || member.memory() == node.image.memory());
    }

    /** Whoever leads when a node is back that was away must know that what it has may have been replaced. */
    private void replacedIsWrittenDown(SimMaster master, String key, ObjectId id) {
        if (available || !knowsLease(master)) {
            return;
        }
        for (SimNode node : truth.nodes()) {
            Violation.unless(
                    !node.isDeadSince(world.nowMs() - AWAY_MS)
                            || !isBelieved(node)
                            || !Truth.holds(node, key, id::isNewerThan),
                    "what replaces something away is written down",
                    "%s acknowledges object %s of %s, of which %s, which is away, has an older one, and the Lease has %s",
                    master,
                    id,
                    key,
                    node,
                    stored);
        }
    }

    /** Of one key: while a removal waits for others of its batch, the key may be put again. */
    private void removed(SimMaster master, RemoveRequest request, RemoveReply reply) {
        boolean done = reply.results().size() == 1 && reply.results().getFirst() == Status.OK;
        if (done && !master.shows(request.keys().getFirst().toString())) {
            isClearedOnSsds(master, request.keys().getFirst().toString(), id -> true);
        }
    }

    /** Nodes that are behind will be told by those that are not, whatever they have lost. */
    private void isClearedOnSsds(SimMaster master, String key, Predicate<ObjectId> which) {
        if (master.status().epoch() < highestEpoch) {
            return;
        }
        for (PoolStatus.Node known : master.status().nodes()) {
            SimNode node = truth.node(known.id());
            boolean used = node != null
                    && known.state() == PoolStatus.NodeState.READY
                    && known.incarnation() == node.incarnation()
                    && !stored.behind().contains(known.id());
            Violation.unless(
                    !used || node.wouldShow(stored).noneMatch(it -> it.key().equals(key) && which.test(it.id())),
                    "what is removed or replaced is off the SSD",
                    "%s acknowledges a removal or replacement of %s, of which an older object would be shown by the SSD of %s beside a new memory",
                    master,
                    key,
                    node);
        }
    }

    /** A put that finds its key there ends well, also when memory was lost of which the leader has not heard yet. */
    private void exist(GrantRequest request, GrantReply reply) {
        for (int i = 0; i < reply.grants().size(); i++) {
            String key = request.keys().get(i).key().toString();
            boolean lost = truth.wasLostSince(key, world.nowMs() - NOTICE_MS_MAX)
                    && truth.nodes().stream().noneMatch(node -> Truth.holds(node, key, id -> true));
            if (reply.grants().get(i).status() == Status.EXISTS && lost) {
                truth.lost(key);
            }
        }
    }

    private void published(SimMaster master, PublishRequest request, PublishReply reply) {
        for (int i = 0; i < reply.results().size(); i++) {
            Put put = request.puts().get(i);
            boolean acknowledged =
                    reply.results().get(i) == Status.OK && put.outcome() == dev.kvpool.wire.PutOutcome.WRITTEN;
            if (!acknowledged) {
                continue;
            }
            String key = put.key().toString();
            isClearedOnSsds(master, key, put.objectId()::isNewerThan);
            replacedIsWrittenDown(master, key, put.objectId());
            boolean held = truth.nodes().stream()
                    .anyMatch(node -> Truth.holds(node, key, id -> id.compareTo(put.objectId()) >= 0));
            Violation.unless(
                    held
                            || master.status().epoch() < highestEpoch
                            || truth.mayHaveGoneSince(key, world.nowMs() - PUBLISH_MS_MAX),
                    "acknowledged puts are held",
                    "%s acknowledges object %s of %s, which no node holds",
                    master,
                    put.objectId(),
                    key);
            if (held && !isEvictedAlready(master, key)) {
                shown(key, put.objectId());
            }
        }
    }

    /** A published object may be evicted while its publish waits for others of the batch: the answer comes after that. */
    private boolean isEvictedAlready(SimMaster master, String key) {
        return !master.shows(key) && truth.wasLostSince(key, world.nowMs() - PUBLISH_MS_MAX);
    }

    /** What is on nodes that are away does not exist for now; that is no word about later. */
    private void asked(SimMaster master, ExistsRequest request, ExistsReply reply) {
        for (int i = 0; i < reply.results().size(); i++) {
            String key = request.keys().get(i).toString();
            boolean missed = reply.results().get(i).status() == Status.NOT_FOUND;
            if (missed && (master.shows(key) || mayKnowTooLittle(master, key))) {
                truth.missedUnheard(key);
            }
        }
    }

    /** Some node has not told it yet what it holds; or somebody deleted the Lease, and a later leader goes on already. */
    private boolean mayKnowTooLittle(SimMaster master, String key) {
        return !master.hasHeardAll(key) || master.status().epoch() < highestEpoch;
    }

    private void found(SimMaster master, LookupRequest request, LookupReply reply) {
        promises.made(reply, truth);
        for (int i = 0; i < reply.objects().size(); i++) {
            String key = request.keys().get(i).toString();
            Found found = reply.objects().get(i);
            Violation.unless(
                    found.status() != Status.UNAVAILABLE || !master.waitsForEnded(key),
                    "a node that has ended is not waited for",
                    "%s answers UNAVAILABLE for %s, which only nodes had that told it that they end",
                    master,
                    key);
            if (found.status() == Status.NOT_FOUND && mayKnowTooLittle(master, key)) {
                truth.missedUnheard(key);
            }
            ObjectId must = truth.mustShow(key);
            if (must != null && found.status() != Status.UNAVAILABLE) {
                boolean right = found.status() == Status.OK && found.objectId().compareTo(must) >= 0;
                Violation.unless(
                        right || !shouldKnow(master, key, must),
                        "leaders show the newest object",
                        "%s answers %s %s for %s, but object %s is on a node it uses",
                        master,
                        found.status(),
                        found.objectId(),
                        key,
                        must);
            }
            if (found.status() == Status.OK && master.status().epoch() == highestEpoch) {
                shown(key, found.objectId());
            }
        }
    }

    private void shown(String key, ObjectId id) {
        if (!setBackEpochs.contains(id.epoch())) {
            truth.shown(key, id);
        }
    }

    /**
     * Whether the leader of the highest epoch uses a node that holds the object, or a newer one of a leader before, which
     * counts as published. A newer one of its own term may be of a put that has not ended.
     */
    private boolean shouldKnow(SimMaster master, String key, ObjectId id) {
        PoolStatus status = master.status();
        if (status.epoch() < highestEpoch) {
            return false;
        }
        for (PoolStatus.Node known : status.nodes()) {
            SimNode node = truth.node(known.id());
            boolean used = node != null
                    && known.state() == PoolStatus.NodeState.READY
                    && known.incarnation() == node.incarnation();
            if (used && Truth.holds(node, key, it -> it.equals(id) || isRecovered(it, id, status.epoch()))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isRecovered(ObjectId held, ObjectId must, long epoch) {
        return held.isNewerThan(must) && held.epoch() < epoch;
    }
}
