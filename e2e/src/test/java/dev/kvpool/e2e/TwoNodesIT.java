// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Command;
import dev.kvpool.e2e.cluster.K3sNode;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.OnCluster;
import dev.kvpool.e2e.cluster.Settings;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Clients;
import dev.kvpool.e2e.pool.Killer;
import dev.kvpool.e2e.pool.Scene;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Pools on two nodes of the cluster, of which one is drained for maintenance, and then loses its power. */
@OnCluster
@Order(9)
@TestInstance(Lifecycle.PER_CLASS)
@TestMethodOrder(OrderAnnotation.class)
class TwoNodesIT {
    private static final Logger LOG = LoggerFactory.getLogger(TwoNodesIT.class);
    private static final String POOL = "two-nodes";

    /** Label of a node to which the roaming storage node does not come. */
    private static final String FULL = "kvpool.dev/e2e-full";

    private static final int OBJECTS = 200;
    private static final int COPIES = 2;

    /** Of 64 KiB each: with what else there is more than half of the pool has room for, and less than all of it. */
    private static final int TOO_MANY = 2400;

    /** Longer than a node takes to be drained and to come back. */
    private static final Duration LOAD = Duration.ofSeconds(60);

    /** Longer than it takes until operator and plugin have told of objects with too few copies, however slow the machine. */
    private static final Duration UNREPAIRED = Duration.ofMinutes(10);

    private static final Duration PATIENCE = Duration.ofSeconds(15);

    /** Fewer objects than one node of the cluster has room for two copies of. */
    private static final Duration LOAD_OF_THE_LOST = Duration.ofSeconds(30);

    private Cluster cluster;
    private Operator operator;
    private Killer killer;
    private K3sNode second;
    private String namespace;
    private String cache;
    private Scene scene;

    /** Nothing but the pools' own pods comes to the second node: kubectl drain leaves alone what has no controller. */
    @BeforeAll
    void addNode(Cluster cluster, Operator operator, Killer killer) {
        this.cluster = cluster;
        this.operator = operator;
        this.killer = killer;
        second = cluster.addNode(List.of(Settings.POOL_IMAGE));
    }

    @AfterEach
    void endMaintenance() {
        uncordon();
    }

    @AfterAll
    void removeAll() {
        if (second != null) {
            // Pods of a node that is gone end only when it is forgotten.
            cluster.remove(second);
        }
        closeScene();
    }

    @ParameterizedTest
    @ValueSource(strings = {"karpenter.sh/disrupted", "ToBeDeletedByClusterAutoscaler"})
    @Order(0)
    @DisplayName(
            "the taint by which an autoscaler announces that it removes the node has its storage emptied, and goes back when it is removed")
    void anAutoscalerAnnouncesThatANodeGoes(String taint) {
        openForDrain();
        cluster.kubectl().run("taint", "node", second.name(), taint + "=now:NoSchedule");
        try {
            Wait.until("the storage nodes there are being emptied, or are empty", Limits.STATUS, () -> {
                assertThat(drains()).extracting(StepStatus::of).contains(POOL + "-second-0", POOL + "-second-1");
                assertThat(drains()).extracting(StepStatus::state).doesNotContain(StepState.WAITING);
                assertThat(condition("Draining")).contains(taint);
            });
        } finally {
            cluster.kubectl().run("taint", "node", second.name(), taint + "-");
        }
        awaitWhole();
    }

    @Test
    @ResourceLock(Operator.LOCK)
    @Order(1)
    @DisplayName(
            "kubectl drain under load waits until the node's storage is handed over, takes the leader along, and ends, though the"
                    + " operator is killed; uncordoned, the node takes part again")
    void aNodeIsDrainedUnderLoad() {
        openForDrain();
        leadFromSecond();
        Clients.Load load = scene.clients().startLoad("load", LOAD);

        CompletableFuture<Command.Result> draining = CompletableFuture.supplyAsync(this::drain);
        Wait.until(
                "the storage nodes there are being emptied",
                Limits.STATUS,
                () -> assertThat(scene.pool().resource().getStatus().steps())
                        .extracting(StepStatus::state)
                        .contains(StepState.UNDER_WAY));
        scene.killOperator(operator);
        Command.Result drain = draining.join();

        assertThat(drain.status()).as(drain.errors()).isZero();
        assertThat(drain.errors()).as("evictions tried too early").contains("disruption budget");
        assertThat(pods(second.name())).as("pods on the drained node").isEmpty();
        assertThat(scene.pool().leaseHolder().pod()).isIn(names(pods(first())));
        assertThat(events()).contains("DrainFinished").doesNotContain("ObjectsDropped", "DrainLeftovers");
        scene.assertReadBack("before");

        long uncordoned = System.nanoTime();
        uncordon();
        awaitWhole();
        LOG.info("whole again {} s after it was uncordoned", seconds(uncordoned));
        load.awaitNothingLost().forEach(line -> LOG.info("load during the drain: {}", line));
        scene.assertReadBack("before");
        scene.assertPut("after");
    }

    @Test
    @Order(2)
    @DisplayName("where the other node has no room and readers hold what is there, kubectl drain still ends: after"
            + " nodeTimeout the pods go with what is left, and an event counts it")
    void aNodeIsDrainedThatNobodyHasRoomFor() {
        changeSettings();
        scene.clients().put("too-many", TOO_MANY);
        // What is leased gives no way to what is moved.
        assertThat(scene.clients().getSome("too-many", TOO_MANY)).noneMatch(line -> line.contains("WRONG BYTES"));

        Command.Result drain = drain();

        assertThat(drain.status()).as(drain.errors()).isZero();
        assertThat(poolEvents())
                .filteredOn(event -> event.getReason().equals("ObjectsDropped"))
                .extracting(Event::getNote)
                .anyMatch(note -> note.contains("may be evicted") && note.matches(".*[: ][1-9][0-9]* objects .*"));
        uncordon();
        awaitWhole();
        List<String> left = scene.clients().getSome("too-many", TOO_MANY);
        LOG.info("of what had no room: {}", left.getLast());
        assertThat(left)
                .noneMatch(line -> line.contains("WRONG BYTES"))
                .doesNotContain("read back %1$d of %1$d objects".formatted(TOO_MANY));
        scene.assertPut("after-dropping");
    }

    @Test
    @Order(3)
    @DisplayName(
            "a node of the cluster is lost under load: every object is still there, copies are made anew, the status says what is"
                    + " away, and what may run elsewhere does when somebody says that the machine is gone")
    void aNodeLosesItsPower() {
        closeScene();
        open(
                "kvpool-e2e-node-loss",
                "cache: {replicas: %d, repair: {delay: %ds}}".formatted(COPIES, UNREPAIRED.toSeconds()));
        addThatMayRunElsewhere();
        scene.assertPut("before");
        Clients.Load load = scene.clients().startLoad("while-lost", LOAD_OF_THE_LOST);

        second.kill();

        scene.assertReadBack("before");
        Wait.until("the status says how many objects have one copy only", Limits.STATUS, () -> {
            assertThat(scene.pool().resource().getStatus().underReplicatedObjects())
                    .isNotNull();
            assertThat(scene.pool().resource().getStatus().unavailableObjects()).isNull();
            assertThat(storageReady()).contains("objects have fewer copies than spec.cache.replicas asks for");
        });
        // The leader may change again while many processes are away, and says nothing of objects meanwhile.
        Wait.until(
                "kubectl kvpool status says so too",
                Limits.STATUS,
                () -> assertThat(cluster.kubectl()
                                .plugin(
                                        cluster.settings().repository().resolve("dist/plugin/kubectl-kvpool"),
                                        "kvpool",
                                        namespace,
                                        "status",
                                        POOL)
                                .orThrow())
                        .containsPattern("Objects: 0 cannot be read .*, [1-9][0-9]* have too few copies"));
        change("{cache: {repair: {delay: 1s}}}");
        load.awaitNothingLost().forEach(line -> LOG.info("load while a node is lost: {}", line));
        Wait.until(
                "every object has two copies on the other node",
                Limits.POOL_READY,
                () -> assertThat(report()).contains("\"underReplicatedObjects\":0,", "\"unavailableObjects\":0,"));
        assertThat(report()).contains("\"state\":\"away\"");
        scene.assertReadBack("before");
        Wait.until(
                "the status says who is away",
                Limits.STATUS,
                () -> assertThat(scene.pool().resource().getStatus().message())
                        .contains("of 5 storage nodes are ready"));
        Wait.until(
                "the status says that all have their copies again",
                Limits.STATUS,
                () -> assertThat(scene.pool().resource().getStatus().underReplicatedObjects())
                        .isNull());
        scene.assertPut("after");

        // What condition StorageReady asks a person for.
        cluster.kubectl()
                .run("taint", "node", second.name(), "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute");
        Wait.until("the storage node that may run elsewhere does", Limits.POOL_READY, () -> {
            assertThat(names(pods(first()))).contains(POOL + "-roaming-0");
            assertThat(scene.pool().resource().getStatus().storage().summary()).isEqualTo("3/5");
        });
        scene.assertReadBack("before");
    }

    /** A storage node that runs on the second node of the cluster, where there happened to be room. */
    private void addThatMayRunElsewhere() {
        cluster.kubectl().run("label", "node", first(), FULL + "=yes");
        apply("""
                  - name: roaming
                    replicas: 1
                    capacity: 64Mi
                    podTemplate:
                      tolerations: [{key: %s, operator: Exists}]
                      affinity:
                        nodeAffinity:
                          requiredDuringSchedulingIgnoredDuringExecution:
                            nodeSelectorTerms:
                            - matchExpressions: [{key: %s, operator: DoesNotExist}]
                """.formatted(Cluster.ADDED, FULL));
        awaitWhole(4);
        cluster.kubectl().run("label", "node", first(), FULL + "-");
    }

    private String storageReady() {
        return condition("StorageReady");
    }

    private List<StepStatus> drains() {
        return scene.pool().resource().getStatus().steps();
    }

    private String condition(String type) {
        return scene.pool().resource().getStatus().conditions().stream()
                .filter(condition -> condition.type().equals(type))
                .map(Condition::message)
                .findFirst()
                .orElseThrow();
    }

    private void openForDrain() {
        if (scene == null) {
            open("kvpool-e2e-node-drain", "cache: {replicas: 1}");
            scene.assertPut("before");
        }
    }

    /** A pool with half of its storage, and one of two masters, on each of the nodes, whatever becomes of the other one. */
    private void open(String namespace, String rules) {
        this.namespace = namespace;
        cache = rules;
        scene = new Scene(cluster, killer, namespace, POOL, OBJECTS);
        apply("");
        awaitWhole();
    }

    /**
     * @param more further storage sets
     */
    private void apply(String more) {
        cluster.kubectl().apply(namespace, """
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %1$s}
                spec:
                  %2$s
                  masters:
                    podTemplate:
                      tolerations: [{key: %5$s, operator: Exists}]
                      affinity:
                        podAntiAffinity:
                          requiredDuringSchedulingIgnoredDuringExecution:
                          - topologyKey: kubernetes.io/hostname
                            labelSelector: {matchLabels: {kvpool.dev/pool: %1$s, kvpool.dev/role: master}}
                  storage:
                  - name: first
                    replicas: 2
                    capacity: 64Mi
                    podTemplate: {nodeSelector: {kubernetes.io/hostname: "%3$s"}}
                  - name: second
                    replicas: 2
                    capacity: 64Mi
                    podTemplate:
                      nodeSelector: {kubernetes.io/hostname: "%4$s"}
                      tolerations: [{key: %5$s, operator: Exists}]
                %6$s
                """.formatted(POOL, cache, first(), second.name(), Cluster.ADDED, more));
    }

    private void closeScene() {
        if (scene != null) {
            scene.close();
            scene = null;
        }
    }

    /** Less patience with drains, and more with readers: masters follow both as they run. */
    private void changeSettings() {
        Set<String> before = scene.podUids();
        change("{drain: {nodeTimeout: %ds}, cache: {objectLease: 10m}}".formatted(PATIENCE.toSeconds()));
        awaitWhole();
        assertThat(report()).contains("\"objectLeaseMs\":600000,");
        assertThat(scene.podUids()).as("pods, by uid").isEqualTo(before);
    }

    private void change(String fieldsOfSpec) {
        cluster.kubectl().run("patch", "kvp", POOL, "-n", namespace, "--type=merge", "-p", "spec: " + fieldsOfSpec);
    }

    /** The harder case: the pool also gets another leader in the moment in which the drain begins. */
    private void leadFromSecond() {
        if (!names(pods(second.name())).contains(scene.pool().leaseHolder().pod())) {
            int epoch = scene.pool().leaseHolder().epoch();
            cluster.kubectl()
                    .plugin(
                            cluster.settings().repository().resolve("dist/plugin/kubectl-kvpool"),
                            "kvpool",
                            namespace,
                            "failover",
                            POOL)
                    .orThrow();
            scene.pool().awaitLeaderAfter(epoch);
        }
    }

    private Command.Result drain() {
        long begun = System.nanoTime();
        Command.Result result = cluster.kubectl().drain(second.name(), Limits.NODE_DRAIN);
        LOG.info("kubectl drain ended with {} after {} s:\n{}", result.status(), seconds(begun), result.errors());
        poolEvents().stream()
                .filter(event -> event.getReason().matches("Drain.*|ObjectsDropped|FailedOver"))
                .forEach(event -> LOG.info("{}: {}", event.getReason(), event.getNote()));
        return result;
    }

    private void uncordon() {
        cluster.kubectl().run("uncordon", second.name());
    }

    private void awaitWhole() {
        awaitWhole(3);
    }

    /**
     * @param onSecond how many pods are on the second node; there are three on the first one
     */
    private void awaitWhole(int onSecond) {
        Wait.until("storage and masters are on both nodes", Limits.POOL_READY, () -> {
            assertThat(pods(first())).hasSize(3);
            assertThat(pods(second.name())).hasSize(onSecond);
            assertThat(scene.pool().resource().getStatus().storage().summary())
                    .isEqualTo("%1$d/%1$d".formatted(1 + onSecond));
            assertThat(scene.pool().resource().getStatus().steps())
                    .extracting(StepStatus::of)
                    .isEmpty();
        });
        scene.pool().awaitReady();
    }

    /** Masters and storage pods on a node. */
    private List<Pod> pods(String node) {
        return scene.pool().members().stream()
                .filter(pod -> node.equals(pod.getSpec().getNodeName()))
                .toList();
    }

    private static List<String> names(List<Pod> pods) {
        return pods.stream().map(pod -> pod.getMetadata().getName()).toList();
    }

    /** Name of the node that was there before. */
    private String first() {
        return cluster.nodeNames().getFirst();
    }

    private List<String> events() {
        return poolEvents().stream().map(Event::getReason).distinct().toList();
    }

    private List<Event> poolEvents() {
        return cluster.client().events().v1().events().inNamespace(namespace).list().getItems().stream()
                .filter(event -> event.getRegarding().getKind().equals("KvCachePool"))
                .toList();
    }

    private static String seconds(long begun) {
        return "%.1f".formatted((System.nanoTime() - begun) / 1e9);
    }

    /** What the leader says of the pool. */
    private String report() {
        return scene.pool().leadersReport().toString();
    }
}
