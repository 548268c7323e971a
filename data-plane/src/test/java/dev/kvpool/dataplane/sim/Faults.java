// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.election.LeaseRecord;
import dev.kvpool.dataplane.election.MemoryLeaseStore;
import dev.kvpool.dataplane.master.core.base.Bounds;
import java.util.ArrayList;
import java.util.List;

/** Breaks things at random until told to stop, and then mends what it broke. */
final class Faults {
    /** Each doubles how long a node may be left out, and at the end all must be in within a bounded time. */
    private static final int POISONINGS_MAX = 2;

    private static final long HOUR_MS = 3_600_000;

    /** An API server that is made again; longer than any leader goes on without it. */
    private static final long LEASE_AWAY_MS = 60_000;

    /** A connection is silent for 3 s until it counts as lost, and its node is forgotten 5 s later. */
    private static final long FORGOTTEN_MS_MIN = 7_000;

    private static final long FORGOTTEN_MS_MAX = 12_000;

    private final Plan plan;
    private final World world;
    private final Network network;

    /** Null where there is none. */
    private final SimCann cann;

    private final MemoryLeaseStore leases;
    private final Truth truth;
    private final Tally tally;
    private final List<SimMaster> masters;
    private final List<SimNode> nodes;
    private final List<SimClient> clients;
    private final SidesChange sides;
    private final Lies lies;
    private final LeaderChecks leaders;
    private boolean over;
    private int poisonings;

    /** Null until it has lied. */
    private SimNode liar;

    /** Whether all masters have started without a node already. */
    private boolean startedWithout;

    /** Nothing else breaks until then. */
    private long quietUntilMs = Long.MIN_VALUE;

    Faults(
            Plan plan,
            Network network,
            SimCann cann,
            MemoryLeaseStore leases,
            Truth truth,
            Tally tally,
            List<SimMaster> masters,
            List<SimNode> nodes,
            List<SimClient> clients,
            Lies lies,
            LeaderChecks leaders) {
        this.plan = plan;
        this.world = network.world;
        this.network = network;
        this.cann = cann;
        this.leases = leases;
        this.truth = truth;
        this.tally = tally;
        this.masters = masters;
        this.nodes = nodes;
        this.clients = clients;
        this.lies = lies;
        this.leaders = leaders;
        this.sides = new SidesChange(
                world, tally, masters, nodes, plan.times().election().renewDeadlineMs());
    }

    void begin() {
        network.bad(plan.slowNetwork());
        network.garbling(plan.corrupting());
        next();
    }

    private void next() {
        world.in(world.between(plan.faultEveryMs() / 2, plan.faultEveryMs() * 2), () -> {
            if (!over) {
                if (world.nowMs() >= quietUntilMs) {
                    one();
                }
                next();
            }
        });
    }

    private void one() {
        SimMaster master = any(masters);
        SimNode node = any(nodes);
        if (plan.ssd() && world.oneIn(8)) {
            ssd(node);
            return;
        }
        if (!node.isTransient && poisonings < POISONINGS_MAX && world.oneIn(40)) {
            poison(node);
            return;
        }
        if (plan.absenceMsMax() > 0 && world.oneIn(10)) {
            sides.begin();
            return;
        }
        if (plan.absenceMsMax() > 0 && !startedWithout && world.oneIn(40)) {
            startWithout(node);
            return;
        }
        if (plan.corrupting() && world.oneIn(8)) {
            if (!node.isTransient && node.damage()) {
                tally.count("byte in memory changed");
            }
            return;
        }
        if (plan.blinding() && world.oneIn(8)) {
            blind();
            return;
        }
        if (plan.driftPpm() > 0 && world.oneIn(20)) {
            tally.count("wall clock set");
            master.setWallClock(world.oneIn(2) ? HOUR_MS : -HOUR_MS);
            return;
        }
        if (plan.wiping() && world.oneIn(30)) {
            forgetRemovals();
            return;
        }
        if (plan.lying() && world.oneIn(8)) {
            lie(node);
            return;
        }
        if (plan.filling() && world.oneIn(6)) {
            fillWithTombstones(node);
            return;
        }
        if (plan.forgetting() && world.oneIn(8)) {
            loseWitnesses(node);
            return;
        }
        if (plan.swaps() && world.oneIn(8)) {
            swapMemory(node);
            return;
        }
        switch (world.random.nextInt(plan.transientNodes() > 0 ? 20 : 17)) {
            case 0 -> crash("master crashed", master);
            case 1 -> freezeOrHang(master);
            case 2 -> crash("node crashed", node);
            case 3, 4 -> cutNode(node);
            case 5 -> freeze("node stopped", node);
            case 6 -> wipe(node);
            case 7, 8 -> cutConnection();
            case 9 -> partition();
            case 10 -> cutFromLease(master);
            case 11 -> loseLeaseAnswers(master);
            case 12 -> tamper();
            case 13 -> client();
            case 14 -> leave(master);
            case 15 -> drain(master, node);
            case 16 -> crashAllMasters();
            case 17 -> leave(node);
            default -> cutOff(any(nodes.stream().filter(it -> it.isTransient).toList()));
        }
    }

    private <T> T any(List<T> list) {
        return list.get(world.random.nextInt(list.size()));
    }

    /** Nodes may be away for long. */
    private long awhileMs(SimProcess process) {
        if (plan.absenceMsMax() > 0 && process instanceof SimNode && world.oneIn(3)) {
            tally.count("long absence");
            return world.between(10_000, plan.absenceMsMax());
        }
        return awhileMs();
    }

    private long awhileMs() {
        return switch (world.random.nextInt(6)) {
            case 0 -> world.between(3_000, 9_000);
            case 1, 2 -> world.between(500, 3_000);
            default -> world.between(10, 500);
        };
    }

    // ---- processes --------------------------------------------------------------------------------------------------

    private void crash(String fault, SimProcess process) {
        if (process.isUp()) {
            tally.count(fault);
            process.crash();
            restartLater(process);
        }
    }

    /** A process that died is started again after a while. */
    void restartLater(SimProcess process) {
        world.in(awhileMs(process), () -> {
            if (!process.isUp() && !isOut(process)) {
                process.start();
            }
        });
    }

    private static boolean isOut(SimProcess process) {
        return process instanceof SimNode node && node.isOut();
    }

    /** Every master meets the same records. What lies on a transient node would be forgotten meanwhile, as it may be. */
    private void poison(SimNode node) {
        tally.count("node with a record that makes cores throw");
        world.trace(() -> "what " + node + " tells makes cores throw");
        poisonings++;
        long forMs = awhileMs();
        masters.forEach(master -> master.poison.begin(node.nodeId(), forMs));
    }

    private void leave(SimMaster master) {
        if (master.hears()) {
            tally.count("master told to end");
            master.leave(() -> restartLater(master));
        }
    }

    private void leave(SimNode node) {
        if (node.isTransient && node.hears()) {
            tally.count("transient node told to end");
            node.leave(() -> restartLater(node));
        }
    }

    /** A transient node reaches no master for longer than they remember it, and clients go on reading from it. */
    private void cutOff(SimNode node) {
        tally.count("transient node cut off");
        world.trace(() -> node + " is cut off from all masters");
        long forMs = world.between(FORGOTTEN_MS_MIN, FORGOTTEN_MS_MAX);
        for (SimMaster master : masters) {
            network.block(node, master);
            network.block(master, node);
            world.in(forMs, () -> {
                network.heal(node, master);
                network.heal(master, node);
            });
        }
    }

    private void freeze(String fault, SimProcess process) {
        if (process.hears()) {
            tally.count(fault);
            process.freeze(awhileMs(process));
        }
    }

    private void freezeOrHang(SimMaster master) {
        if (world.oneIn(2)) {
            freeze("master stopped", master);
        } else if (master.hears()) {
            tally.count("core hung");
            master.hang(awhileMs());
        }
    }

    private void cutNode(SimNode node) {
        if (node.isUp()) {
            tally.count("node cut at a store");
            node.cut(world.random.nextInt(12), world.random.nextInt(129));
        } else if (world.oneIn(2)) {
            node.cutNextRecovery(world.random.nextInt(6));
        }
    }

    private void wipe(SimNode node) {
        if (!plan.wiping() || node.isTransient) {
            return;
        }
        if (node.isOnDisk()) {
            tally.count("power lost");
            node.losePower(world.oneIn(2));
            restartLater(node);
            return;
        }
        tally.count("node lost its memory");
        node.crash();
        node.wipe();
        restartLater(node);
    }

    private void ssd(SimNode node) {
        if (node.isTransient) {
            return;
        }
        if (plan.wiping() && world.oneIn(2)) {
            tally.count("node lost its SSD");
            node.crash();
            node.wipeSsd();
            restartLater(node);
        } else if (node.isUp()) {
            tally.count("SSD failed");
            node.failSsd();
        }
    }

    private void client() {
        SimClient client = any(clients);
        if (world.oneIn(2)) {
            crash("client crashed", client);
        } else {
            freeze("client stopped", client);
        }
    }

    private void crashAllMasters() {
        if (world.oneIn(plan.absenceMsMax() > 0 ? 2 : 4)) {
            tally.count("all masters crashed");
            masters.forEach(master -> crash("master crashed", master));
        }
    }

    /** One node is away while keys are removed; then all who know of that are gone, and no master lives that would notice. */
    private void forgetRemovals() {
        SimNode away = any(nodes);
        if (away.isTransient || !away.isUp()) {
            return;
        }
        tally.count("all who know what a node has missed are gone");
        away.crash();
        long missesMs = world.between(1_000, 6_000);
        world.in(missesMs, () -> {
            if (!over) {
                masters.forEach(master -> crash("master crashed", master));
                nodes.stream().filter(node -> !node.equals(away)).forEach(this::wipe);
            }
        });
        world.in(missesMs + world.between(1_000, 6_000), () -> {
            if (!away.isUp() && !isOut(away)) {
                away.start();
            }
        });
    }

    /** The same at once, so that a leader meets the node that was away before anything is put. */
    private void loseWitnesses(SimNode away) {
        if (away.isTransient || !away.isUp()) {
            return;
        }
        tally.count("all witnesses lost their memory");
        away.crash();
        world.in(world.between(1_000, 4_000), () -> {
            if (over) {
                return;
            }
            masters.forEach(SimProcess::crash);
            nodes.stream().filter(node -> !node.isTransient && !isOut(node)).forEach(node -> {
                node.crash();
                if (!node.equals(away)) {
                    node.wipe();
                }
                startIn(world.between(0, 500), node);
            });
            masters.forEach(master -> startIn(world.between(0, 500), master));
        });
    }

    /** As of a node whose volume is another one for a while. */
    private void swapMemory(SimNode node) {
        if (node.isTransient || !node.isUp()) {
            return;
        }
        tally.count("node was back with its earlier memory");
        node.crash();
        node.swapMemory();
        startIn(world.between(10, 500), node);
        world.in(world.between(1_000, 6_000), () -> {
            if (over) {
                return; // it stays with that memory
            }
            node.crash();
            node.swapMemory();
            startIn(world.between(10, 2_000), node);
        });
    }

    private void startIn(long ms, SimProcess process) {
        world.in(ms, () -> {
            if (!process.isUp() && !isOut(process)) {
                process.start();
            }
        });
    }

    /** While a node is away, others have no room for tombstones, one after the other or all at once. */
    private void fillWithTombstones(SimNode away) {
        if (away.isTransient || !away.isUp()) {
            return;
        }
        tally.count("nodes had no room for tombstones");
        away.crash();
        startIn(world.between(2_000, 9_000), away);
        for (SimNode node : nodes) {
            if (!node.isTransient && !node.equals(away)) {
                long fromMs = world.between(0, 2_000);
                world.in(fromMs, () -> node.fullOfTombstones(!over));
                world.in(fromMs + world.between(500, 5_000), () -> node.fullOfTombstones(false));
            }
        }
    }

    /** Of a register that was lost one node is believed: that everything was removed, and which wire version the pool speaks. */
    private boolean mayRegisterBeLost() {
        return plan.tampering() || !leaders.haveReadRegister();
    }

    /** For a while one node of several says what it cannot know: always the same, for masters remember what another has said. */
    private void lie(SimNode any) {
        if (any.isTransient || lies.areUnderWay()) {
            return;
        }
        liar = liar == null ? any : liar;
        SimNode node = liar;
        if (world.oneIn(2)) {
            lies.ofEpoch(node, leaders.highestEpoch());
        } else if (plan.raising() || mayRegisterBeLost()) {
            return;
        } else {
            lies.ofWire(node, SimMaster.RAISED_WIRE);
        }
        tally.count("node lied");
        world.in(world.between(1_000, 15_000), lies::end);
        // What it speaks it says as it goes; all else when it introduces itself.
        if (world.oneIn(2)) {
            node.crash();
            startIn(world.between(10, 500), node);
        }
    }

    /** A leader that has never met a node serves without it, after a while: what that alone holds is not there, and is back with it. */
    private void startWithout(SimNode node) {
        if (node.isTransient || !node.isUp()) {
            return;
        }
        tally.count("all masters started without a node");
        startedWithout = true;
        node.crash();
        masters.forEach(master -> crash("master crashed", master));
        long forMs = Bounds.COLD_WAIT_MS + world.between(10_000, 25_000);
        quietUntilMs = world.nowMs() + forMs;
        world.in(forMs, () -> {
            if (!node.isUp() && !isOut(node)) {
                node.start();
            }
        });
    }

    /** The node is emptied, with more or less time for it, and taken back later. */
    private void drain(SimMaster master, SimNode node) {
        if (plan.draining() && master.hears() && master.drain(node.nodeId(), world.between(500, 10_000))) {
            tally.count("node drained");
            if (world.oneIn(3)) {
                // It leads on for a while, and the next leader must know of the drain if this one has said that it
                // began.
                loseLease(master);
            } else if (world.oneIn(2)) {
                world.in(world.between(0, 1_000), () -> crash("master crashed", master));
            }
            world.in(world.oneIn(2) ? awhileMs() : world.between(2_000, 12_000), () -> cancelDrain(node));
        }
    }

    /** Whoever leads by then. */
    private void cancelDrain(SimNode node) {
        for (SimMaster master : masters) {
            if (master.hears() && master.serves()) {
                master.cancelDrain(node.nodeId());
            }
        }
    }

    // ---- network ----------------------------------------------------------------------------------------------------

    private void cutConnection() {
        List<End> ends = new ArrayList<>();
        masters.forEach(process -> ends.addAll(process.ends()));
        nodes.forEach(process -> ends.addAll(process.ends()));
        if (!ends.isEmpty()) {
            tally.count("connection cut");
            any(ends).cut();
        }
    }

    private void partition() {
        List<SimProcess> all = new ArrayList<>(masters);
        all.addAll(nodes);
        all.addAll(clients);
        SimProcess one = any(all);
        List<SimProcess> others = new ArrayList<>();
        if (world.oneIn(3)) {
            all.stream().filter(it -> !it.equals(one)).forEach(others::add);
        } else {
            all.stream().filter(it -> !it.equals(one) && world.oneIn(3)).forEach(others::add);
        }
        tally.count("partition");
        boolean in = world.random.nextInt(3) != 0;
        boolean out = !in || world.oneIn(2);
        long forMs = awhileMs(one);
        for (SimProcess other : others) {
            if (in) {
                network.block(other, one);
                world.in(forMs, () -> network.heal(other, one));
            }
            if (out) {
                network.block(one, other);
                world.in(forMs, () -> network.heal(one, other));
            }
        }
    }

    /** As by a network policy, or a certificate that nodes refuse: the leader reaches the Lease, clients and masters, and no node, or only one. */
    private void blind() {
        SimMaster leader = masters.stream()
                .filter(master -> master.hears() && master.serves())
                .findFirst()
                .orElse(null);
        if (leader == null) {
            return;
        }
        tally.count("leader cut from the nodes");
        SimNode spared = world.oneIn(3) ? any(nodes) : null;
        long forMs = world.between(5_000, plan.absenceMsMax() > 0 ? plan.absenceMsMax() : 20_000);
        for (SimNode node : nodes) {
            if (!node.equals(spared)) {
                network.block(node, leader);
                network.block(leader, node);
                world.in(forMs, () -> {
                    network.heal(node, leader);
                    network.heal(leader, node);
                });
            }
        }
    }

    // ---- the Lease --------------------------------------------------------------------------------------------------

    private void cutFromLease(SimMaster master) {
        boolean all = world.oneIn(3);
        tally.count(all ? "all masters cut from the Lease" : "master cut from the Lease");
        long forMs = plan.absenceMsMax() > 0 && world.oneIn(3) ? LEASE_AWAY_MS : awhileMs();
        for (SimMaster each : all ? masters : List.of(master)) {
            each.election.access().cut(true);
            world.in(forMs, () -> each.election.access().cut(false));
        }
        if (all) {
            // A leader goes on for a while and cannot write down who is away.
            SimNode node = any(nodes);
            world.in(world.between(0, 500), () -> crash("node crashed", node));
        }
    }

    /** What it writes now never gets there. */
    private void loseLease(SimMaster master) {
        master.election.access().cut(true);
        world.in(world.between(3_000, 9_000), () -> master.election.access().cut(false));
    }

    private void loseLeaseAnswers(SimMaster master) {
        tally.count("answers about the Lease lost");
        master.election.access().loseAnswers(true);
        world.in(awhileMs(), () -> master.election.access().loseAnswers(false));
    }

    private void tamper() {
        if (!plan.tampering() || leases.lease().isEmpty()) {
            return;
        }
        truth.tampered();
        if (world.oneIn(2)) {
            tally.count("Lease deleted");
            world.trace(() -> "the Lease is deleted");
            leases.delete();
        } else {
            tally.count("Lease stolen");
            world.trace(() -> "the Lease is stolen");
            leases.edit(lease -> new LeaseRecord(
                    "thief_0123456789abcdef",
                    lease.durationSeconds(),
                    lease.acquireTime(),
                    lease.renewTime(),
                    world.oneIn(3) ? 0 : lease.transitions() + 1));
        }
    }

    // ---- the end ----------------------------------------------------------------------------------------------------

    void end() {
        over = true;
        sides.end();
        network.bad(false);
        network.garbling(false);
        network.healAll();
        network.quickenPeers();
        if (cann != null) {
            cann.calm();
        }
        masters.forEach(master -> {
            master.election.access().cut(false);
            master.election.access().loseAnswers(false);
        });
        List<SimProcess> all = new ArrayList<>(masters);
        all.addAll(nodes);
        all.addAll(clients);
        for (SimProcess process : all) {
            process.thaw();
            if (!process.isUp() && !isOut(process)) {
                process.start();
            }
        }
        nodes.forEach(node -> node.cut(-1, 0));
        nodes.stream().filter(SimNode::isFullOfTombstones).forEach(node -> node.fullOfTombstones(false));
        lies.end();
        masters.forEach(master -> master.poison.end());
    }

    boolean isOver() {
        return over;
    }
}
