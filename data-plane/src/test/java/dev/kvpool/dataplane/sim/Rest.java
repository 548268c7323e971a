// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.sim.SegmentImage.Slot;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** When the faults are over, the pool is whole again by itself, within a bounded time, and has lost nothing. */
final class Rest {
    /** Longer than every lease, grant, wait and retry one after the other. */
    private static final long WHOLE_MS_MAX = 90_000;

    private static final long TOMBSTONES_MS_MAX = Bounds.GRANT_MS_MAX + Bounds.LATE_WRITE_MS + 60_000;
    private static final long LOOK_MS = 250;
    private static final long SCRUB_MS = 80_000;
    private static final long UNBELIEVED_MS = 20_000;
    private static final int ASK_MS = 5_000;

    /** Each after {@link #LOOK_MS} at least: longer than an engine that has ended without a word is waited for. */
    private static final int ASKS_MAX = (int) ((Bounds.TRANSIENT_AWAY_MS + 5_000) / LOOK_MS);

    /** Longer, with {@link #ASK_MS} for each, than object leases last after the last takeover. */
    private static final int ASKS_FOR_ROOM_MAX = 3;

    private static final int UNANSWERED = 1;

    private final Plan plan;
    private final World world;
    private final List<SimMaster> masters;
    private final List<SimNode> nodes;
    private final List<Load> loads;
    private final History history;
    private final Tally tally;
    private final Scaling scaling;

    /** Since when nodes are not believed. */
    private final Map<String, Long> unbelievedMs = new TreeMap<>();

    Rest(
            Plan plan,
            World world,
            List<SimMaster> masters,
            List<SimNode> nodes,
            List<Load> loads,
            History history,
            Tally tally,
            Scaling scaling) {
        this.scaling = scaling;
        this.plan = plan;
        this.world = world;
        this.masters = masters;
        this.nodes = nodes;
        this.loads = loads;
        this.history = history;
        this.tally = tally;
    }

    void check() {
        awaitWhole();
        plan.qualifiedKeys().forEach(this::readable);
        plan.qualifiedKeys().forEach(this::writable);
        awaitWhole();
        awaitNoTombstones();
    }

    /** With all nodes there no removal has to be remembered, once nothing of before can come late. */
    private void awaitNoTombstones() {
        int left = 1;
        for (long waited = 0; left != 0 && waited < TOMBSTONES_MS_MAX; waited += LOOK_MS) {
            world.run(LOOK_MS);
            left = masters.stream()
                    .filter(SimMaster::serves)
                    .mapToInt(master -> (int) master.status().tombstones())
                    .findFirst()
                    .orElse(1);
        }
        Violation.unless(left == 0, "whole again", "%d tombstones are left", left);
    }

    private void awaitWhole() {
        String lacking = lacking();
        for (long waited = 0; !lacking.isEmpty(); waited += LOOK_MS) {
            Violation.unless(
                    waited < wholeMsMax(), "whole again", "%d ms after the last fault: %s", wholeMsMax(), lacking);
            world.run(LOOK_MS);
            lacking = lacking();
        }
    }

    private long wholeMsMax() {
        // A node finds what changed in its memory when it looks at that, which it does once in a while.
        return WHOLE_MS_MAX
                + (plan.spareNodes() > 0 ? Bounds.UNEXPECTED_AWAY_MS : 0)
                + (plan.corrupting() ? SCRUB_MS : 0);
    }

    /** All faults are over: a node that is out stays out, and one that is there and has another memory has lost the one it had. */
    private boolean isLost(String id, long memory) {
        return nodes.stream()
                .filter(node -> node.nodeId().equals(id))
                .allMatch(node -> node.isOut() || node.image.memory() != memory);
    }

    /**
     * What a person does when a leader says for long that it does not believe a node, and that its segment should be removed: too few
     * nodes are left of those that knew what was in the register that was lost, or which epoch the Lease had before it was set back.
     */
    private void removeUnbelieved(PoolStatus status) {
        Set<String> now = new TreeSet<>();
        for (PoolStatus.Node node : status.nodes()) {
            if (node.state() == PoolStatus.NodeState.AWAY && node.reason().contains("is not believed")) {
                now.add(node.id());
            } else if (node.state() == PoolStatus.NodeState.READY) {
                unbelievedMs.remove(node.id());
            }
        }
        for (String id : now) {
            if (world.nowMs() - unbelievedMs.computeIfAbsent(id, it -> world.nowMs()) < UNBELIEVED_MS) {
                continue;
            }
            for (SimNode node : nodes) {
                if (node.nodeId().equals(id) && node.isUp()) {
                    tally.count("segment removed by a person");
                    world.trace(() -> "a person removes the segment of " + node);
                    node.crash();
                    node.wipe();
                    if (node.hasSsd()) {
                        node.wipeSsd();
                    }
                    node.start();
                }
            }
        }
    }

    /** What is not as it should be, empty when the pool is whole. */
    private String lacking() {
        int running = loads.stream().mapToInt(load -> load.client().running()).sum();
        if (running != 0) {
            return running + " operations run";
        }
        List<SimMaster> leaders = masters.stream().filter(SimMaster::serves).toList();
        if (leaders.size() != 1) {
            return leaders.size() + " masters serve";
        }
        leaders.getFirst().cancelDrains();
        if (leaders.getFirst().giveLostWitnessesUp(this::isLost)) {
            tally.count("witness given up by a person");
            history.tombstonesLost();
        }
        PoolStatus status = leaders.getFirst().status();
        if (plan.tampering()) {
            removeUnbelieved(status);
        }
        int expected = scaling.expected().size();
        if (status.readyNodes() != expected) {
            return status.readyNodes() + " of " + expected + " nodes are ready: " + status.nodes();
        }
        // A node that was taken out counts as away for a while, and what is newer on it may be.
        for (SimNode node : nodes) {
            if (node.isOut() && status.register().register().isMember(node.nodeId())) {
                return node + " was taken out and is a member still";
            }
        }
        for (SimNode node : there()) {
            if (node.isTransient && !leaders.getFirst().uses(node.nodeId())) {
                return "the engine of " + node + " takes no part: " + status.nodes();
            }
        }
        if (status.grantsUnderWay() != 0) {
            return status.grantsUnderWay() + " grants are under way";
        }
        for (SimNode node : there()) {
            if (!node.isTransient && node.image.activeWire() != status.active().wire()) {
                return node + " speaks wire version " + node.image.activeWire() + ", the pool " + status.active();
            }
        }
        Map<String, ObjectId> kept = new TreeMap<>();
        for (SimNode node : there()) {
            if (node.image.slots().stream().anyMatch(slot -> slot != null && slot.reserved())) {
                return node + " has a reserved extent";
            }
            for (Slot slot : node.held()) {
                ObjectId other = kept.putIfAbsent(slot.key(), slot.id());
                if (other != null && !other.equals(slot.id())) {
                    return slot.key() + " is kept as " + other + " and " + slot.id();
                }
            }
        }
        return status.objects() == kept.size() && status.unavailableObjects() == 0
                ? unevenCopies(status)
                : "the leader shows %d objects, %d of them unavailable, the nodes hold %d, which are %s"
                        .formatted(status.objects(), status.unavailableObjects(), kept.size(), copies());
    }

    /** Both what the leader says and what the nodes have: a leader that never repairs may also not know that it should. */
    private String unevenCopies(PoolStatus status) {
        if (status.overReplicatedObjects() != 0) {
            return status.overReplicatedObjects() + " objects have more copies than they should: " + copies();
        }
        if (plan.tight()) {
            return ""; // repair never evicts, so in a pool at its watermark a copy may be missing for good
        }
        // A leader wants as many copies as it finds, also of what was being moved off a node that is then taken out.
        // What one storage node and one of engines held cannot be repaired when that one has gone.
        if (status.underReplicatedObjects() != 0
                && plan.spareNodes() == 0
                && plan.replicas() <= scaling.expected().size()) {
            return status.underReplicatedObjects() + " objects have fewer copies than they should: " + copies();
        }
        for (Set<String> holders : copies().values()) {
            if (holders.size() < Math.min(plan.replicas(), scaling.expected().size())) {
                return "of " + plan.replicas() + " copies nodes hold " + copies();
            }
        }
        return "";
    }

    private List<SimNode> there() {
        return nodes.stream().filter(node -> !node.isOut()).toList();
    }

    /** Who has each object. */
    private Map<String, Set<String>> copies() {
        Map<String, Set<String>> holders = new TreeMap<>();
        for (SimNode node : there()) {
            for (Slot slot : node.held()) {
                holders.computeIfAbsent(slot.key() + " " + slot.id(), it -> new TreeSet<>())
                        .add(node.nodeId());
            }
        }
        return holders;
    }

    private void readable(String key) {
        int status = ask(key);
        // Only now: it may have been evicted while it was asked for.
        boolean must = history.mustExist(key);
        boolean definite = status == Status.OK.code() || status == Status.NOT_FOUND.code();
        Violation.unless(definite, "whole again", "a get of %s ends with %s", key, Status.of(status));
        Violation.unless(
                !must || status == Status.OK.code(),
                "nothing acknowledged is lost",
                "%s was acknowledged and is %s",
                key,
                Status.of(status));
        tally.count(must ? "keys that had to be there at the end" : "keys that need not be there at the end");
    }

    private void writable(String key) {
        int[] answer = {UNANSWERED};
        for (int i = 0; i < ASKS_MAX && (i == 0 || mayPass(answer[0], i)); i++) {
            answer[0] = UNANSWERED;
            loadsOf(key).getFirst().put(List.of(key), ASK_MS, status -> answer[0] = status);
            await(answer);
        }
        Violation.unless(
                answer[0] == Status.OK.code(), "whole again", "a put of %s ends with %s", key, Status.of(answer[0]));
        readable(key);
    }

    /** A Lease that was stolen last is held by the thief for its whole duration, and all a full pool holds may be leased. */
    private static boolean mayPass(int status, int asks) {
        boolean leaderless = status == Status.NOT_LEADER.code() || status == Status.RECOVERING.code();
        return leaderless || (status == Status.NO_SPACE.code() && asks < ASKS_FOR_ROOM_MAX);
    }

    /** The status of a get; asked again while it says neither that the key is there nor that it is not. */
    private int ask(String key) {
        int[] answer = {UNANSWERED};
        for (int i = 0; i < ASKS_MAX; i++) {
            Load load = loadsOf(key).get(i % loadsOf(key).size());
            answer[0] = UNANSWERED;
            load.ask(key, ASK_MS, status -> answer[0] = status);
            await(answer);
            if (answer[0] == Status.OK.code() || answer[0] == Status.NOT_FOUND.code()) {
                return answer[0];
            }
            // What is damaged is there until its node looks at it, which it does once in a while.
            world.run(answer[0] == Status.CHECKSUM.code() ? SCRUB_MS / ASKS_MAX : LOOK_MS);
        }
        return answer[0];
    }

    /** Those of clients that can name it. */
    private List<Load> loadsOf(String key) {
        return loads.stream().filter(load -> load.owns(key)).toList();
    }

    private void await(int[] answer) {
        for (long waited = 0; answer[0] == UNANSWERED && waited < 2 * ASK_MS; waited += 5) {
            world.run(5);
        }
    }
}
