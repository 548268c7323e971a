// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.sim.History.Reader;
import dev.kvpool.dataplane.sim.History.Removal;
import dev.kvpool.dataplane.sim.nativecore.ClientCore.Manner;
import dev.kvpool.dataplane.sim.nativecore.OpTable;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * What one client does: it puts its own values under everybody's keys, reads, asks and removes. Keys are qualified here, and everywhere but in
 * what the client sends.
 */
final class Load {
    private static final byte[] NOTHING = new byte[0];
    private static final int RUNNING_MAX = 3;
    private static final int SOFT_PIN_MS = 2_000;

    /** No put takes longer. */
    private static final long PUT_MS_MAX = 10_000;

    private final Plan plan;
    private final World world;
    private final SimClient client;
    private final History history;
    private final Truth truth;
    private final Values values;
    private final Tally tally;
    private final Arena arena;

    Load(Plan plan, SimClient client, History history, Truth truth, Values values, Tally tally, Arena arena) {
        this.plan = plan;
        this.world = client.world;
        this.client = client;
        this.history = history;
        this.truth = truth;
        this.values = values;
        this.tally = tally;
        this.arena = arena;
    }

    SimClient client() {
        return client;
    }

    void step() {
        if (!client.hears() || client.running() >= RUNNING_MAX) {
            return;
        }
        int dice = world.random.nextInt(100);
        if (dice < 45) {
            put(someKeys(), timeoutMs());
        } else if (dice < 80 || !plan.removing()) {
            get(someKeys(), timeoutMs());
        } else if (dice < 84) {
            exists(someKeys());
        } else if (dice < 98 || !plan.removingAll()) {
            remove(someKeys());
        } else {
            removeAll();
        }
    }

    private int timeoutMs() {
        return (int) (world.oneIn(5) ? world.between(50, 1_000) : world.between(1_000, 8_000));
    }

    /** Whose keys a client names. */
    static Tenant tenantOf(SimProcess client) {
        return client instanceof SimClient it ? it.tenant.orElse(Tenant.DEFAULT) : Tenant.DEFAULT;
    }

    private Tenant tenant() {
        return tenantOf(client);
    }

    /** Whether this client can name a key. */
    boolean owns(String key) {
        return tenant().owns(Key.of(key));
    }

    static String key(int number) {
        return "key-" + number;
    }

    private static int number(String key) {
        return Integer.parseInt(Tenant.unqualified(Key.of(key)).toString().substring("key-".length()));
    }

    private List<String> someKeys() {
        List<String> keys = new ArrayList<>();
        int count = world.oneIn(3) ? 1 + world.random.nextInt(4) : 1;
        for (int i = 0; i < count; i++) {
            String key = tenant().qualify(Key.of(key(world.random.nextInt(plan.keys()))))
                    .toString();
            if (!keys.contains(key)) {
                keys.add(key);
            }
        }
        return keys;
    }

    private void put(List<String> keys, int timeoutMs) {
        put(keys, timeoutMs, status -> {});
    }

    void put(List<String> keys, int timeoutMs, IntConsumer status) {
        int first = values.latest() + 1;
        long deadlineMs = world.nowMs() + timeoutMs - plan.driftMs(timeoutMs);
        Manner manner = putManner(keys);
        List<byte[]> memory = new ArrayList<>();
        for (String key : keys) {
            boolean large = plan.tight() || world.oneIn(plan.valuesALargeOne());
            memory.add(values.make(key, world.random.nextInt(large ? plan.valueBytesMax() : 300)));
            history.putBegins(client.name, key, values.latest(), manner.upsert(), manner.pins() == Manner.PIN_HARD);
        }
        run(OpTable.PUT, keys, memory, timeoutMs, manner, table -> {
            for (int i = 0; i < keys.size(); i++) {
                boolean acknowledged = table.status(i) == Status.OK.code();
                history.putEnds(first + i, acknowledged);
                if (acknowledged) {
                    truth.acknowledged(keys.get(i));
                }
                count("put", table.status(i));
                awaitsRoom(keys.get(i), table.status(i), deadlineMs);
                status.accept(table.status(i));
            }
        });
    }

    /** Nowhere is so much pinned that nothing could give way, so a put has to wait for that as long as it may. */
    private void awaitsRoom(String key, int status, long deadlineMs) {
        Violation.unless(
                status != Status.NO_SPACE.code()
                        || world.nowMs() >= deadlineMs
                        || truth.nodes().stream()
                                .anyMatch(node -> node.wasFullOfTombstonesSince(world.nowMs() - PUT_MS_MAX)),
                "a put waits for room",
                "a put of %s ends with %s, %d ms before its deadline: %s",
                key,
                Status.of(status),
                deadlineMs - world.nowMs(),
                client.explanation());
    }

    private Manner putManner(List<String> keys) {
        boolean upsert = plan.upserting() && world.oneIn(3);
        if (keys.stream().anyMatch(key -> plan.isPinned(number(key)))) {
            return new Manner(plan.replicas(), false, upsert, Manner.PIN_HARD, 0, false);
        }
        boolean soft = plan.pinning() && world.oneIn(3);
        return new Manner(plan.replicas(), false, upsert, soft ? Manner.PIN_SOFT : 0, soft ? SOFT_PIN_MS : 0, false);
    }

    void get(List<String> keys, int timeoutMs) {
        long beginMs = world.nowMs();
        List<byte[]> memory = new ArrayList<>();
        keys.forEach(key -> memory.add(new byte[plan.valueBytesMax() + Values.BYTES_MIN]));
        Manner manner = new Manner(plan.replicas(), false, false, 0, 0, client.reuses);
        run(OpTable.GET, keys, memory, timeoutMs, manner, table -> {
            for (int i = 0; i < keys.size(); i++) {
                count("get", table.status(i));
                missed(keys.get(i), table.status(i), beginMs);
                if (table.status(i) == Status.OK.code()) {
                    history.read(new Reader(client.name, client.reuses), keys.get(i), table.result(i), beginMs);
                }
            }
        });
    }

    private void missed(String key, int status, long beginMs) {
        if (status == Status.NOT_FOUND.code()) {
            history.missed(client.name, key, beginMs);
        }
    }

    private void exists(List<String> keys) {
        long beginMs = world.nowMs();
        run(OpTable.EXISTS, keys, nothing(keys), timeoutMs(), table -> {
            for (int i = 0; i < keys.size(); i++) {
                count("exists", table.status(i));
                missed(keys.get(i), table.status(i), beginMs);
            }
        });
    }

    private void remove(List<String> keys) {
        boolean force = plan.forcing() && world.oneIn(2);
        long beginMs = world.nowMs();
        List<Removal> removals = new ArrayList<>();
        for (String key : keys) {
            removals.add(history.removalBegins(client.name, key, tenant(), force));
            truth.mayGo(key);
        }
        run(OpTable.REMOVE, keys, nothing(keys), timeoutMs(), Manner.of(plan.replicas(), force), table -> {
            for (int i = 0; i < keys.size(); i++) {
                history.removalEnds(removals.get(i), table.status(i) == Status.OK.code(), truth.heldKeys());
                count("remove", table.status(i));
                if (table.status(i) == Status.NOT_FOUND.code()) {
                    history.removedNothing(client.name, keys.get(i), beginMs, removals.get(i));
                }
            }
        });
    }

    private void removeAll() {
        boolean force = plan.forcing() && world.oneIn(2);
        Removal removal = history.removalBegins(client.name, null, tenant(), force);
        truth.allMayGo(tenant());
        Manner manner = Manner.of(plan.replicas(), force);
        run(OpTable.REMOVE_ALL, List.of(""), List.of(NOTHING), timeoutMs(), manner, table -> {
            history.removalEnds(removal, table.status(0) == Status.OK.code(), truth.heldKeys());
            count("remove all", table.status(0));
        });
    }

    /** The status of a read of one key; the value is checked like any other. */
    void ask(String key, int timeoutMs, IntConsumer status) {
        long beginMs = world.nowMs();
        List<byte[]> memory = List.of(new byte[plan.valueBytesMax() + Values.BYTES_MIN]);
        run(OpTable.GET, List.of(key), memory, timeoutMs, table -> {
            if (table.status(0) == Status.OK.code()) {
                history.read(new Reader(client.name, false), key, table.result(0), beginMs);
            }
            missed(key, table.status(0), beginMs);
            status.accept(table.status(0));
        });
    }

    private static List<byte[]> nothing(List<String> keys) {
        List<byte[]> memory = new ArrayList<>();
        keys.forEach(key -> memory.add(NOTHING));
        return memory;
    }

    private void run(
            int opCode,
            List<String> keys,
            List<byte[]> memory,
            int timeoutMs,
            java.util.function.Consumer<OpTable> whenDone) {
        run(opCode, keys, memory, timeoutMs, Manner.of(plan.replicas(), false), whenDone);
    }

    private void run(
            int opCode,
            List<String> keys,
            List<byte[]> memory,
            int timeoutMs,
            Manner manner,
            java.util.function.Consumer<OpTable> whenDone) {
        List<String> sent = keys.stream()
                .map(key -> Tenant.unqualified(Key.of(key)).toString())
                .toList();
        OpTable table = new OpTable(arena, opCode, sent, memory);
        client.submit(table, timeoutMs, manner, done -> {
            world.trace(() -> client + " ended operation " + opCode + " of " + keys + ": " + statuses(done, keys));
            whenDone.accept(done);
        });
    }

    private static List<Status> statuses(OpTable table, List<String> keys) {
        List<Status> statuses = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            statuses.add(Status.of(table.status(i)));
        }
        return statuses;
    }

    private void count(String what, int status) {
        tally.count(what + " " + Status.of(status));
    }
}
