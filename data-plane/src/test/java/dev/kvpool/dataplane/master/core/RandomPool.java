// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.election.MemoryLeaseStore;
import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.CoreSettings;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply.Found;
import dev.kvpool.dataplane.wire.message.Key;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A whole pool under random load and random faults, from one seed: two masters, three nodes, three clients. */
final class RandomPool {
    private static final int KEYS = 8;
    private static final long NODE_BYTES = 1 << 20;
    private static final long LOAD_MS = 90_000;

    /** Longer than every lease and wait, so that what should happen has happened. */
    private static final long REST_MS = 60_000 + Bounds.GRANT_MS_MAX + Bounds.LATE_WRITE_MS;

    private final World world;
    private final boolean removing;
    private final MemoryLeaseStore leases = new MemoryLeaseStore();
    private final List<ModelMaster> masters = new ArrayList<>();
    private final List<ModelElection> elections = new ArrayList<>();
    private final Map<String, ModelNode> nodes = new HashMap<>();
    private final List<ModelClient> clients = new ArrayList<>();
    private final History history;
    private boolean calm;

    /**
     * Builds the pool of a seed.
     *
     * @param removing removals are in the load, forced ones too
     */
    RandomPool(long seed, int replicas, boolean removing) {
        this.world = new World(seed, 40);
        this.removing = removing;
        this.history = new History(world);
        Set<String> ids = Set.of("a", "b", "c");
        CoreSettings settings = new CoreSettings("m", 10_000, 0.9, 0.8, replicas, 5_000, 5_000, 1 << 20);
        for (int i = 0; i < 2; i++) {
            ModelMaster master = new ModelMaster(world, settings, ids);
            master.onPromise(history::promise);
            masters.add(master);
            elections.add(new ModelElection(world, master, "master-" + i, leases));
        }
        for (String id : List.of("a", "b", "c")) {
            ModelNode node = new ModelNode(world, id, NODE_BYTES, false);
            node.onFree(record -> history.freed(node, record, nodes.values()));
            node.heartbeatEvery(500);
            nodes.put(id, node);
            world.every(300, () -> masters.forEach(node::dial));
        }
        for (int i = 0; i < 3; i++) {
            clients.add(new ModelClient(world, masters, nodes, history));
        }
    }

    History run() {
        world.every(40, this::load);
        world.every(700, this::fault);
        world.run(LOAD_MS);
        calm = true;
        world.run(REST_MS);
        checkAtRest();
        return history;
    }

    private void load() {
        if (calm) {
            return;
        }
        ModelClient client = clients.get(world.random.nextInt(clients.size()));
        Key key = Key.of("key-" + world.random.nextInt(KEYS));
        switch (world.random.nextInt(removing ? 4 : 2)) {
            case 0 -> client.put(key);
            case 1 -> client.get(key);
            case 2 -> client.remove(key, false);
            default -> client.remove(key, true);
        }
    }

    private void fault() {
        if (calm || world.random.nextInt(3) != 0) {
            return;
        }
        long forMs = 100L + world.random.nextInt(world.random.nextInt(4) == 0 ? 12_000 : 2_000);
        int which = world.random.nextInt(masters.size());
        ModelMaster master = masters.get(which);
        ModelNode node = List.copyOf(nodes.values()).get(world.random.nextInt(nodes.size()));
        switch (world.random.nextInt(7)) {
            case 0 -> crash(master, which, forMs);
            case 1 -> cutFromLease(which, forMs);
            case 2 -> leases.delete();
            case 3 -> loseAnswers(which, forMs);
            case 4 -> crash(node, forMs);
            case 5 -> node.hangUp(master);
            default -> mute(node, Math.min(forMs, 2_500));
        }
    }

    private void crash(ModelMaster master, int which, long forMs) {
        if (master.isUp()) {
            master.crash();
            world.in(forMs, () -> {
                master.start();
                elections.get(which).rebirth();
            });
        }
    }

    private void crash(ModelNode node, long forMs) {
        if (node.isUp()) {
            node.crash();
            world.in(forMs, node::start);
        }
    }

    private void mute(ModelNode node, long forMs) {
        node.mute(true);
        world.in(forMs, () -> node.mute(false));
    }

    private void cutFromLease(int which, long forMs) {
        elections.get(which).access().cut(true);
        world.in(forMs, () -> elections.get(which).access().cut(false));
    }

    private void loseAnswers(int which, long forMs) {
        elections.get(which).access().loseAnswers(true);
        world.in(forMs, () -> elections.get(which).access().loseAnswers(false));
    }

    private void checkAtRest() {
        List<ModelMaster> leaders = masters.stream()
                .filter(master -> master.status().isLeader(world.nowMs()))
                .toList();
        assertThat(leaders).as("leaders at rest").hasSize(1);
        assertThat(leaders.getFirst().status().readyNodes()).isEqualTo(nodes.size());
        assertThat(leaders.getFirst().status().grantsUnderWay()).isZero();
        assertThat(leaders.getFirst().status().underReplicatedObjects()).isZero();
        assertThat(leaders.getFirst().status().overReplicatedObjects()).isZero();
        assertThat(leaders.getFirst().status().tombstones()).isZero();
        Map<Key, Found> found = new HashMap<>();
        for (int i = 0; i < KEYS; i++) {
            Key key = Key.of("key-" + i);
            ask(key, found, 5);
        }
        assertThat(found).hasSize(KEYS);
        history.checkAtRest(nodes.values(), found);
        Set<Authority> terms = new HashSet<>();
        elections.forEach(election -> election.terms()
                .forEach(term -> assertThat(terms.add(term))
                        .as("a term held once: %s", term)
                        .isTrue()));
    }

    private void ask(Key key, Map<Key, Found> found, int tries) {
        for (int i = 0; i < tries && !found.containsKey(key); i++) {
            clients.getFirst().find(key, (object, reply) -> found.put(key, object));
            world.run(500);
        }
    }
}
