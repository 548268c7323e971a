// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.scale;

import dev.kvpool.operator.apiserver.ApiServer;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures the operator with many pools: the shipped program against a real API server, with simulated kubelets and masters on
 * the same machine. Prints what it measures; fails only when the operator does.
 */
@Command(
        name = "operator-scale",
        mixinStandardHelpOptions = true,
        description =
                "Many pools of 2 masters and 1 storage node: time until all are ready, durations of reconciliations, writes and"
                        + " processor time at rest, a restart, memory; then one pool of many storage nodes.")
public final class OperatorScale implements Callable<Integer> {
    private static final String LARGE = "large";
    private static final int SET_MAX = 250;
    private static final Duration LOOK = Duration.ofMillis(500);

    /** Two rounds of looks at calm pools: what was begun has ended then. */
    private static final Duration SETTLE = Duration.ofSeconds(30);

    @Option(names = "--pools", defaultValue = "1000", description = "How many pools (default ${DEFAULT-VALUE}).")
    private int pools;

    @Option(
            names = "--namespaces",
            defaultValue = "20",
            description = "They are in so many (default ${DEFAULT-VALUE}).")
    private int namespaces;

    @Option(
            names = "--nodes",
            defaultValue = "1000",
            description =
                    "Storage nodes of the one large pool, at most 3000 (default ${DEFAULT-VALUE}); 0 leaves it out.")
    private int nodes;

    @Option(
            names = "--rest",
            defaultValue = "120",
            description = "Seconds to watch at rest (default ${DEFAULT-VALUE}).")
    private int restSeconds;

    @Option(
            names = "--limit",
            defaultValue = "1800",
            description = "Seconds any step may take (default ${DEFAULT-VALUE}).")
    private int limitSeconds;

    @Option(names = "--secure", description = "Pools that require TLS, as pools do that say nothing; else without.")
    private boolean secure;

    @Option(names = "--jvm-options", required = true, description = "Flags of the operator's JVM: those of its image.")
    private String jvmOptions;

    private KubernetesClient client;
    private SimulatedCluster cluster;
    private SimulatedMasters masters;
    private SecureMasters secureMasters;
    private PoolCensus census;
    private OperatorProcess operator;
    private Path log;
    private Path kubeconfig;

    private OperatorScale() {}

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new OperatorScale()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException {
        ApiServer api = ApiServer.shared();
        api.applyElectionRights();
        List<String> names =
                IntStream.range(0, namespaces).mapToObj(n -> "scale-" + n).toList();
        names.forEach(api::createNamespace);
        api.createNamespace(LARGE);
        List<String> all = IntStream.rangeClosed(0, namespaces)
                .mapToObj(n -> n < namespaces ? names.get(n) : LARGE)
                .toList();
        log = Files.createTempFile("operator-scale", ".log");
        kubeconfig = Files.writeString(Files.createTempFile("operator-scale", ".kubeconfig"), api.kubeconfig());
        client = api.client();
        addServiceAddresses();
        addAccountOfTheOperator();
        masters = new SimulatedMasters(PoolNames.MASTER_ADMIN_PORT);
        secureMasters = new SecureMasters(PoolNames.SECURE_ADMIN_PORT, client, masters);
        cluster = new SimulatedCluster(client, all, secure ? secureMasters : masters, 4);
        census = new PoolCensus(client, all);
        try {
            say("the operator's log", log.toString());
            measure(names);
        } finally {
            if (operator != null) {
                operator.close();
            }
            census.close();
            cluster.close();
            secureMasters.close();
            masters.close();
            client.close();
            Files.delete(kubeconfig);
        }
        return 0;
    }

    /** A pool has a Service with an address, and the API server of tests has 254 addresses by itself. */
    private void addServiceAddresses() {
        client.resource("""
                apiVersion: networking.k8s.io/v1
                kind: ServiceCIDR
                metadata: {name: scale}
                spec: {cidrs: [10.32.0.0/16]}
                """).create();
    }

    /** Its tokens are what it shows to masters. */
    private void addAccountOfTheOperator() {
        client.resource("""
                apiVersion: v1
                kind: Namespace
                metadata: {name: kvpool-system}
                """).serverSideApply();
        client.resource("""
                apiVersion: v1
                kind: ServiceAccount
                metadata: {name: kvpool, namespace: kvpool-system}
                """).serverSideApply();
    }

    private void measure(List<String> names) throws IOException {
        startOperator();
        makePools(names);
        rest();
        restart();
        if (nodes > 0) {
            makeLargePool();
        }
    }

    private void startOperator() throws IOException {
        long begin = System.nanoTime();
        operator = OperatorProcess.start(kubeconfig, ApiServer.OPERATOR_USER, jvmOptions, log);
        await("the operator answers", operator::isUp);
        say("operator started in", seconds(begin) + ", " + operator.memory());
    }

    private void makePools(List<String> names) throws IOException {
        long begin = System.nanoTime();
        IntStream.range(0, pools)
                .parallel()
                .forEach(n -> apply(
                        names.get(n % namespaces),
                        "pool-" + n,
                        "{security: {mode: %s}, masters: {replicas: 2}, storage: [{name: default, capacity: 1Gi, replicas: 1}]}"
                                .formatted(mode())));
        say(pools + " pools created in", seconds(begin));
        await("all pools are ready", () -> census.ready() == pools);
        say("all of them Ready after", seconds(begin) + ", with " + cluster.pods() + " pods");
        say("meanwhile", operator.latencies() + "; " + operator.memory());
    }

    private void rest() throws IOException {
        sleep(SETTLE);
        Latencies before = operator.latencies();
        ApiWrites written = ApiWrites.of(client);
        Duration cpu = operator.cpu();
        sleep(Duration.ofSeconds(restSeconds));
        Duration used = operator.cpu().minus(cpu);
        ApiWrites more = ApiWrites.of(client).since(written);
        say("at rest for " + restSeconds + " s", operator.latencies().since(before) + "; " + operator.memory());
        say(
                "writes a minute at rest",
                "%.1f (%s)".formatted(more.total() * 60.0 / restSeconds, more)
                        + "; processor %.0f %% of a core".formatted(100.0 * used.toMillis() / (restSeconds * 1000.0)));
        say("largest status", census.largestStatus() + " bytes");
    }

    private void restart() throws IOException {
        Map<String, String> before = census.versions();
        operator.close();
        masters.listen();
        ApiWrites written = ApiWrites.of(client);
        long begin = System.nanoTime();
        operator = OperatorProcess.start(kubeconfig, ApiServer.OPERATOR_USER, jvmOptions, log);
        await("the operator answers", operator::isUp);
        String up = seconds(begin);
        await("each pool was looked at", masters::allAsked);
        say("restart: answers after", up + ", has looked at every pool after " + seconds(begin));
        sleep(SETTLE);
        Set<String> changed = PoolCensus.changed(before, census.versions());
        say("changed by the restart", changed.size() + " objects" + (changed.isEmpty() ? "" : ": " + changed));
        say("written by it", ApiWrites.of(client).since(written) + "; " + operator.latencies());
        say("operator after it", operator.memory());
    }

    private void makeLargePool() throws IOException {
        Latencies before = operator.latencies();
        long begin = System.nanoTime();
        StringBuilder sets = new StringBuilder();
        for (int left = nodes, set = 0; left > 0; left -= SET_MAX, set++) {
            sets.append(sets.isEmpty() ? "" : ",")
                    .append("{name: set%d, capacity: 1Gi, replicas: %d}".formatted(set, Math.min(left, SET_MAX)));
        }
        apply(LARGE, LARGE, "{security: {mode: %s}, storage: [%s]}".formatted(mode(), sets));
        await("the large pool is ready", () -> census.ready() == pools + 1);
        say("one pool of " + nodes + " nodes", "Ready after " + seconds(begin) + "; " + operator.memory());
        say("meanwhile", operator.latencies().since(before).toString());
        say("largest status", census.largestStatus() + " bytes");
    }

    private String mode() {
        return secure ? "Required" : "\"Off\"";
    }

    private void apply(String namespace, String name, String spec) {
        client.resource("""
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %s, namespace: %s}
                spec: %s
                """.formatted(name, namespace, spec))
                .fieldManager("user")
                .serverSideApply();
    }

    private void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofSeconds(limitSeconds).toNanos();
        while (!condition.getAsBoolean()) {
            cluster.check();
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("not within " + limitSeconds + " s: " + what + "; " + census.ready()
                        + " pools are ready; the operator's log is " + log);
            }
            sleep(LOOK);
        }
    }

    static void sleep(Duration duration) {
        try {
            Thread.sleep(duration);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private static String seconds(long beginNanos) {
        return "%.1f s".formatted((System.nanoTime() - beginNanos) / 1e9);
    }

    private static void say(String what, String value) {
        System.out.printf("%-28s %s%n", what, value);
    }
}
