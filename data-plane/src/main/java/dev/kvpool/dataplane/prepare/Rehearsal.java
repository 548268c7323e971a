// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.prepare;

import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.http.AdminCaller;
import dev.kvpool.nativelib.ClientParameters;
import dev.kvpool.nativelib.KvException;
import dev.kvpool.nativelib.NativeClient;
import dev.kvpool.nativelib.ObjectValue;
import dev.kvpool.nativelib.Status;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;

/** A master and a storage node as threads of this process, and what clients and operators ask of them. */
final class Rehearsal {
    private static final String HOST = "127.0.0.1";
    private static final Duration START_MAX = Duration.ofSeconds(60);
    private static final Duration BATCH_MAX = Duration.ofSeconds(30);
    private static final Duration ADMIN_MAX = Duration.ofSeconds(5);
    private static final long PAUSE_MS = 20;

    /** Enough for the compiler to have found what is hot; some seconds. */
    private static final int ROUNDS = 1_000;

    private static final int KEYS = 16;
    private static final int VALUE_BYTES = 4096;
    private static final int ADMIN_EVERY = 20;

    private final List<Role> roles = new ArrayList<>();
    private final HostPort master;
    private final HostPort masterAdmin;
    private final HostPort nodeAdmin;

    private Rehearsal(HostPort master, HostPort masterAdmin, HostPort nodeAdmin) {
        this.master = master;
        this.masterAdmin = masterAdmin;
        this.nodeAdmin = nodeAdmin;
    }

    static Rehearsal start(List<Command> commands, Path directory) throws IOException {
        List<HostPort> free = freePlaces(4);
        Rehearsal pool = new Rehearsal(free.get(0), free.get(1), free.get(3));
        String poolId = UUID.randomUUID().toString();
        List<String> master = arguments("master", poolId, free.get(0), free.get(1));
        master.addAll(List.of("--name", "master-0", "--expected-nodes", "node-0"));
        master.addAll(List.of("--lease", directory.resolve("lease.json").toUri().toString()));
        List<String> node = arguments("node", poolId, free.get(2), free.get(3));
        node.addAll(List.of("--node-id", "node-0", "--masters", pool.master.toString(), "--advertise-host", HOST));
        Path segments = Files.createDirectory(directory.resolve("node-0"));
        node.addAll(List.of("--data-dir", segments.toString(), "--segment-size", "32MiB"));
        pool.roles.add(Role.start(commands, master));
        pool.roles.add(Role.start(commands, node));
        return pool;
    }

    /** Free at this moment; all are found before the first is used, so none comes twice. */
    private static List<HostPort> freePlaces(int count) throws IOException {
        List<HostPort> places = new ArrayList<>();
        List<ServerSocket> held = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                held.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
                places.add(new HostPort(HOST, held.getLast().getLocalPort()));
            }
        } finally {
            for (ServerSocket socket : held) {
                socket.close();
            }
        }
        return places;
    }

    private static List<String> arguments(String command, String poolId, HostPort place, HostPort admin) {
        List<String> arguments = new ArrayList<>(List.of(command, "--pool-id", poolId, "--host", HOST));
        arguments.addAll(List.of("--port", Integer.toString(place.port())));
        arguments.addAll(List.of("--admin-port", Integer.toString(admin.port())));
        return arguments;
    }

    /** Everything a pool does in an ordinary day, often enough. */
    void play() throws FailureException, InterruptedException, IOException {
        try (NativeClient client = connect()) {
            for (int round = 0; round < ROUNDS; round++) {
                playRound(client, round);
                if (round % ADMIN_EVERY == 0) {
                    askAdmins();
                }
            }
        }
    }

    private NativeClient connect() throws FailureException, InterruptedException {
        long end = System.nanoTime() + START_MAX.toNanos();
        while (true) {
            try {
                NativeClient client = NativeClient.connect(ClientParameters.of(master.toString()));
                if (client.put(Map.of("first", new byte[1]), BATCH_MAX).equals(List.of(Status.OK))) {
                    return client;
                }
                client.close();
            } catch (KvException e) {
                if (System.nanoTime() > end) {
                    throw new FailureException("no pool within " + START_MAX.toSeconds() + " s: " + e.getMessage(), e);
                }
            }
            for (Role role : roles) {
                role.requireAlive();
            }
            Thread.sleep(PAUSE_MS);
        }
    }

    private static void playRound(NativeClient client, int round) throws FailureException {
        Map<String, byte[]> values = new LinkedHashMap<>();
        IntStream.range(0, KEYS).forEach(i -> values.put("round-" + round + "-" + i, value(round, i)));
        List<String> keys = List.copyOf(values.keySet());
        require(client.put(values, BATCH_MAX), "put");
        require(client.exists(keys, BATCH_MAX), "exists");
        List<ObjectValue> read = client.get(keys, BATCH_MAX);
        for (int i = 0; i < KEYS; i++) {
            byte[] found = read.get(i).bytes().orElse(new byte[0]);
            if (!Arrays.equals(found, value(round, i))) {
                throw new FailureException(
                        "get of " + keys.get(i) + " gave " + read.get(i).status());
            }
        }
        require(client.remove(keys, true, BATCH_MAX), "remove");
    }

    private static byte[] value(int round, int number) {
        byte[] value = new byte[VALUE_BYTES];
        Arrays.fill(value, (byte) (31 * round + number));
        return value;
    }

    private static void require(List<Status> statuses, String verb) throws FailureException {
        if (!statuses.stream().allMatch(status -> status == Status.OK)) {
            throw new FailureException(verb + " gave " + statuses);
        }
    }

    private void askAdmins() throws IOException {
        for (String path : List.of("/healthz", "/readyz", "/role", "/metrics", "/api/v1/pool")) {
            AdminCaller.PLAIN.get(masterAdmin, path, ADMIN_MAX, ADMIN_MAX);
        }
        for (String path : List.of("/healthz", "/readyz", "/metrics")) {
            AdminCaller.PLAIN.get(nodeAdmin, path, ADMIN_MAX, ADMIN_MAX);
        }
    }

    /** Stops all, the last first. */
    void stop() throws InterruptedException {
        for (Role role : roles.reversed()) {
            role.stop();
        }
    }
}
