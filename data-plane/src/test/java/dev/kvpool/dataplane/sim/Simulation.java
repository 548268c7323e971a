// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.election.ElectionTimes;
import dev.kvpool.dataplane.election.MemoryLeaseStore;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.Consistency;
import dev.kvpool.dataplane.master.core.base.CoreSettings;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.master.core.slab.Slabs;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/** A whole pool of production cores under random load and random faults, from one seed. */
final class Simulation implements AutoCloseable {
    private static final UUID POOL = new UUID(0x6B76_706F_6F6CL, 0x73_696DL);

    private static final long REPAIR_BYTES_PER_SECOND = 64 << 20;

    final World world;
    final Tally tally = new Tally();

    private final Plan plan;
    private final Arena arena = Arena.ofConfined();
    private final List<SimMaster> masters = new ArrayList<>();
    private final List<SimNode> nodes = new ArrayList<>();
    private final List<SimClient> clients = new ArrayList<>();
    private final List<SimThief> thieves = new ArrayList<>();
    private final List<Load> loads = new ArrayList<>();
    private final Faults faults;
    private final Scaling scaling;
    private final Rest rest;

    Simulation(long seed, Plan plan) {
        this.plan = plan;
        world = new World(seed);
        world.trace(() -> "plan " + plan);
        Network network = new Network(world, plan.driftPpm());
        Values values = new Values();
        History history =
                new History(world, values, tally, plan.objectLeaseMaxMs() + plan.driftMs(plan.objectLeaseMaxMs()));
        Truth truth = new Truth(world, history);
        Promises promises = new Promises(world, history, plan);
        Lies lies = new Lies(world);
        LeaderChecks leaderChecks = new LeaderChecks(world, plan, truth, promises, tally, lies);
        SegmentChecks segmentChecks = new SegmentChecks(truth, promises, tally, this::nodeDied);
        MemoryLeaseStore leases = new MemoryLeaseStore();
        Set<String> expected = new TreeSet<>();
        for (int i = 0; i < plan.nodes(); i++) {
            expected.add("node-" + i);
        }
        SimCann cann = plan.cann().map(it -> new SimCann(it, network, tally)).orElse(null);
        List<String> addresses = new ArrayList<>();
        for (int i = 0; i < plan.masters(); i++) {
            SimMaster master = new SimMaster(
                    network,
                    POOL,
                    settings("master-" + i),
                    expected,
                    plan.times(),
                    leases,
                    plan.transientNodes() + plan.spareNodes() > 0,
                    lies,
                    leaderChecks);
            masters.add(master);
            addresses.add(master.address);
            leaderChecks.add(master);
        }
        for (int i = 0; i < plan.nodes() + plan.transientNodes(); i++) {
            boolean isTransient = i >= plan.nodes();
            String id = (isTransient ? "transient-" : "node-") + i;
            SimNode node = new SimNode(
                    network,
                    POOL,
                    id,
                    isTransient,
                    plan.ssd() && !isTransient,
                    plan.disks() && !isTransient,
                    addresses,
                    plan.tenant(i),
                    cann,
                    segmentChecks);
            nodes.add(node);
            truth.add(node);
        }
        for (int i = 0; i < plan.spareNodes(); i++) {
            SimNode node = new SimNode(
                    network,
                    POOL,
                    "spare-" + i,
                    false,
                    plan.ssd(),
                    plan.disks(),
                    addresses,
                    plan.tenant(i),
                    cann,
                    segmentChecks);
            node.out(true);
            nodes.add(node);
            truth.add(node);
        }
        scaling = new Scaling(
                world,
                truth,
                tally,
                masters,
                nodes.stream().filter(node -> !node.isTransient).toList(),
                plan.absenceMsMax() > 0 ? 40_000 : 9_000);
        for (int i = 0; i < plan.clients(); i++) {
            SimClient client = new SimClient(
                    network,
                    "client-" + i,
                    addresses,
                    plan.tenant(i),
                    i < plan.reusing(),
                    plan.way(i),
                    cann,
                    plan.scribbles(i));
            clients.add(client);
            loads.add(new Load(plan, client, history, truth, values, tally, arena));
        }
        if (!plan.tenants().isEmpty()) {
            thieves.add(new SimThief(network, POOL, tally, nodes));
        }
        faults = new Faults(plan, network, cann, leases, truth, tally, masters, nodes, clients, lies, leaderChecks);
        rest = new Rest(plan, world, masters, nodes, loads, history, tally, scaling);
    }

    private CoreSettings settings(String name) {
        CacheRules rules = rules(plan.times().objectLeaseMs(), plan.replicas());
        ElectionTimes times = plan.times().election();
        return new CoreSettings(
                name,
                rules,
                times.leaseDurationMs(),
                times.renewDeadlineMs(),
                true,
                Slabs.BYTES_NAMED,
                SimMaster.RAISED_WIRE,
                false);
    }

    private CacheRules rules(long objectLeaseMs, int replicas) {
        return PlainSettings.rules(
                objectLeaseMs,
                plan.eviction(),
                replicas,
                plan.times().repairDelayMs(),
                REPAIR_BYTES_PER_SECOND,
                plan.available() ? Consistency.AVAILABLE : Consistency.STRICT);
    }

    /** As when somebody edits the spec: each master reads it after a while, and one that starts reads the newest. */
    private void changeRules() {
        if (faults.isOver()) {
            return;
        }
        long leaseMs = world.between(plan.times().objectLeaseMs() / 3, plan.objectLeaseMaxMs());
        CacheRules rules = rules(leaseMs, 1 + world.random.nextInt(plan.replicas()));
        tally.count("rules changed");
        for (SimMaster master : masters) {
            world.in(world.between(0, 3_000), () -> {
                if (!faults.isOver()) {
                    master.goBy(rules);
                }
            });
        }
        world.in(world.between(500, 5_000), this::changeRules);
    }

    private void raise() {
        for (SimMaster master : masters) {
            if (!faults.isOver() && master.hears() && master.serves() && master.raise()) {
                tally.count("raised to the next wire version");
                return;
            }
        }
        if (!faults.isOver()) {
            world.in(world.between(500, 2_000), this::raise);
        }
    }

    private void nodeDied(SimNode node) {
        tally.count("node died at a store");
        faults.restartLater(node);
    }

    void run() {
        List<SimProcess> all = new ArrayList<>(masters);
        all.addAll(nodes);
        all.addAll(clients);
        all.addAll(thieves);
        nodes.stream().filter(SimNode::isOut).forEach(all::remove);
        for (SimProcess process : all) {
            world.in(world.between(0, 200), process::start);
        }
        if (plan.spareNodes() > 0) {
            scaling.begin();
        }
        world.in(500, this::load);
        world.in(2_000, faults::begin);
        if (plan.raising()) {
            world.in(world.between(2_500, 10_000), this::raise);
        }
        if (plan.changing()) {
            world.in(2_500, this::changeRules);
        }
        world.run(plan.loadMs());
        world.trace(() -> "faults are over");
        faults.end();
        thieves.forEach(SimProcess::crash);
        if (plan.spareNodes() > 0) {
            scaling.end();
        }
        masters.forEach(master -> master.goBy(rules(plan.times().objectLeaseMs(), plan.replicas())));
        rest.check();
    }

    private void load() {
        if (faults.isOver()) {
            return;
        }
        loads.get(world.random.nextInt(loads.size())).step();
        world.in(world.between(5, plan.stepMsMax()), this::load);
    }

    @Override
    public void close() {
        for (List<? extends SimProcess> some : List.of(thieves, clients, nodes, masters)) {
            some.forEach(SimProcess::crash);
        }
        nodes.forEach(SimNode::release);
        clients.forEach(SimClient::release);
        thieves.forEach(SimThief::release);
        arena.close();
    }
}
