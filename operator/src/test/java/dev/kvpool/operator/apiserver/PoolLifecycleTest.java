// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.Condition;
import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.PoolPhase;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A pool from creation to a change of leader, on a real API server with scripted masters. */
class PoolLifecycleTest {
    private static final String NAMESPACE = "lifecycle";
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String ONE_SET = "{storage: [{name: default, capacity: 1Gi, replicas: 2}]}";

    private static OperatorUnderTest operator;
    private static ClusterActor cluster;

    @BeforeAll
    static void start() {
        operator = new OperatorUnderTest(NAMESPACE);
        cluster = new ClusterActor(operator.client(), NAMESPACE);
    }

    @AfterAll
    static void stop() {
        operator.close();
    }

    @Test
    void aPoolBecomesReadyAndItsLeaderServiceFollowsTheLeader() {
        operator.applyPool("demo", ONE_SET);
        awaitReason("demo", Reason.STARTING);
        run("demo", 1);
        awaitPhase("demo", PoolPhase.READY);
        assertThat(cluster.isLabelledLeader("demo-master-0")).isTrue();

        operator.masters().silence("demo-master-0");
        operator.masters()
                .say(
                        "demo-master-1",
                        ScriptedMasters.leader(
                                "demo-master-1", 2, 5L << 20, List.of("demo-default-0", "demo-default-1")));
        cluster.takeLease("demo-master", "demo-master-1", 2);

        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(
                                operator.pool("demo").getStatus().leader().epoch())
                        .isEqualTo(2));
        KvCachePool pool = operator.pool("demo");
        assertThat(pool.getStatus().leader().pod()).isEqualTo("demo-master-1");
        assertThat(pool.getStatus().storage().summary()).isEqualTo("2/2");
        assertThat(pool.getStatus().version().running()).isEqualTo("0.1.0");
        assertThat(pool.getStatus().protocols()).containsExactly("shm", "tcp");
        assertThat(cluster.isLabelledLeader("demo-master-0")).isFalse();
        assertThat(cluster.isLabelledLeader("demo-master-1")).isTrue();
    }

    @Test
    void everyChildIsOwnedByThePool() {
        String uid = operator.applyPool("owned", ONE_SET).getMetadata().getUid();
        awaitReason("owned", Reason.STARTING);

        var children = Children.of(operator.client(), NAMESPACE, "owned");

        assertThat(children)
                .hasSize(15)
                .allSatisfy(child -> assertThat(child.getMetadata().getOwnerReferences())
                        .singleElement()
                        .satisfies(owner -> assertThat(owner.getUid()).isEqualTo(uid)));
    }

    @Test
    void aChangedSpecReachesThePods() {
        operator.applyPool("changed", ONE_SET);
        awaitReason("changed", Reason.STARTING);

        operator.applyPool("changed", "{cache: {replicas: 2}, storage: [{name: default, capacity: 1Gi, replicas: 3}]}");

        await().atMost(LIMIT).untilAsserted(() -> {
            assertThat(statefulSet("changed-default").getSpec().getReplicas()).isEqualTo(3);
            assertThat(Children.cacheRules(operator.client(), NAMESPACE, "changed"))
                    .contains("replicas=2\n");
        });
        assertThat(Children.expectedNodes(operator.client(), NAMESPACE, "changed"))
                .isEqualTo("changed-default-0\nchanged-default-1\nchanged-default-2\n");
    }

    @Test
    void mastersLearnTheZonesOfStorageNodesOnceTheirPodsAreScheduled() {
        cluster.addNode("lifecycle-1", Map.of("topology.kubernetes.io/zone", "eu-1"));
        try {
            operator.applyPool("zoned", ONE_SET);
            awaitReason("zoned", Reason.STARTING);
            assertThat(Children.expectedNodes(operator.client(), NAMESPACE, "zoned"))
                    .isEqualTo("zoned-default-0\nzoned-default-1\n");
            run("zoned", 1);

            cluster.schedulePodsOf("zoned-default", "lifecycle-1");

            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(Children.expectedNodes(operator.client(), NAMESPACE, "zoned"))
                            .isEqualTo("zoned-default-0 lifecycle-1\nzoned-default-1 lifecycle-1\n"));
        } finally {
            // Nodes are of the whole cluster; other tests must not see this one.
            operator.client().nodes().withName("lifecycle-1").delete();
        }
    }

    @Test
    void fewerNodesWaitUntilTheyAreEmptyOrTheSpecAllowsTheLoss() {
        operator.applyPool("shrink", ONE_SET);
        awaitReason("shrink", Reason.STARTING);
        run("shrink", 1);
        awaitPhase("shrink", PoolPhase.READY);

        operator.applyPool("shrink", "{storage: [{name: default, capacity: 1Gi, replicas: 1}]}");

        awaitReason("shrink", Reason.WAITS_FOR_DRAIN);
        assertThat(condition("shrink", Reason.WAITS_FOR_DRAIN).orElseThrow().message())
                .isEqualTo("Storage set default keeps 2 nodes instead of 1 until shrink-default-1 is empty.");
        assertThat(operator.pool("shrink").getStatus().phase()).isEqualTo(PoolPhase.WAITING);
        assertThat(statefulSet("shrink-default").getSpec().getReplicas()).isEqualTo(2);

        operator.applyPool("shrink", "{onDataLoss: Replace, storage: [{name: default, capacity: 1Gi, replicas: 1}]}");

        await().atMost(LIMIT)
                .untilAsserted(
                        () -> assertThat(statefulSet("shrink-default").getSpec().getReplicas())
                                .isEqualTo(1));
    }

    @Test
    void aPausedPoolIsNotTouched() {
        operator.applyPool("paused", "{paused: true, storage: [{name: default, capacity: 1Gi}]}");

        awaitReason("paused", Reason.PAUSED);

        assertThat(Children.of(operator.client(), NAMESPACE, "paused")).isEmpty();
    }

    @Test
    void anObjectOfSomebodyElseIsLeftAlone() {
        operator.client()
                .resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName("taken-client")
                        .withNamespace(NAMESPACE)
                        .endMetadata()
                        .addToData("mine", "yes")
                        .build())
                .create();

        operator.applyPool("taken", ONE_SET);

        awaitReason("taken", Reason.NAME_TAKEN);
        assertThat(operator.client()
                        .configMaps()
                        .inNamespace(NAMESPACE)
                        .withName("taken-client")
                        .get()
                        .getData())
                .containsOnlyKeys("mine");
    }

    @Test
    void anObjectThatTheApiServerRefusesIsNamedAndTheOthersAreMade() {
        operator.applyPool(
                "refused",
                "{storage: [{name: default, capacity: 1Gi, perNode: {}, scheduling: {tolerations: [{key: a, operator: Maybe}]}}]}");

        awaitReason("refused", Reason.APPLY_FAILED);
        assertThat(condition("refused", Reason.APPLY_FAILED).orElseThrow().message())
                .contains("DaemonSet refused-default could not be changed", "Maybe");
        assertThat(statefulSet("refused-master")).isNotNull();
    }

    @Test
    void retainedObjectsAreTakenOverWithTheirIdentity() {
        String first = operator.applyPool("kept", "{deletionPolicy: Retain, storage: [{name: default, capacity: 1Gi}]}")
                .getMetadata()
                .getUid();
        awaitReason("kept", Reason.STARTING);
        operator.client().resource(operator.pool("kept")).delete();
        await().atMost(LIMIT).until(() -> operator.pool("kept") == null);
        assertThat(Children.of(operator.client(), NAMESPACE, "kept")).hasSize(15);

        operator.applyPool("kept", "{storage: [{name: default, capacity: 1Gi}]}");

        awaitReason("kept", Reason.APPLIED);
        assertThat(arguments("kept-master")).contains("--pool-id=" + first);
        assertThat(statefulSet("kept-default").getMetadata().getOwnerReferences())
                .singleElement()
                .satisfies(owner -> assertThat(owner.getUid())
                        .isEqualTo(operator.pool("kept").getMetadata().getUid()));
    }

    @Test
    void objectsOfADeletedPoolOfTheSameNameAreWaitedFor() {
        operator.applyPool("again", ONE_SET);
        awaitReason("again", Reason.STARTING);
        operator.client().resource(operator.pool("again")).delete();
        await().atMost(LIMIT).until(() -> operator.pool("again") == null);

        operator.applyPool("again", ONE_SET);

        awaitReason("again", Reason.OLD_POOL_REMAINS);
        // What garbage collection does on a cluster.
        Children.of(operator.client(), NAMESPACE, "again")
                .forEach(child -> operator.client().resource(child).delete());
        awaitReason("again", Reason.APPLIED);
    }

    @Test
    void aMissingTransferEngineIsNamedAndItsSettingsReachThePodsOnceItIsThere() {
        operator.applyPool("engined", "{transferEngine: later, storage: [{name: default, capacity: 1Gi}]}");
        awaitReason("engined", Reason.TRANSFER_ENGINE_MISSING);
        assertThat(condition("engined", Reason.TRANSFER_ENGINE_MISSING)
                        .orElseThrow()
                        .message())
                .contains("There is no TransferEngine later in namespace lifecycle");

        operator.applyEngine("later", "{protocols: [tcp]}");
        awaitReason("engined", Reason.APPLIED);
        assertThat(arguments("engined-default")).contains("--protocols=tcp");

        operator.applyEngine("later", "{protocols: [tcp, shm], socketDirectory: /run/kvpool}");
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(arguments("engined-default")).contains("--protocols=tcp,shm"));
        await().atMost(LIMIT).untilAsserted(() -> {
            assertThat(operator.engine("later").getStatus().pools()).containsExactly("engined");
            assertThat(operator.engine("later").getStatus().conditions())
                    .extracting(Condition::reason)
                    .containsExactly(Reason.NODES_MISSING.text());
        });
    }

    /** Runs all pods of a pool with one set of two nodes, led by its first master. */
    private static void run(String pool, int epoch) {
        cluster.runPodsOf(pool + "-master");
        cluster.runPodsOf(pool + "-default");
        String leader = pool + "-master-0";
        operator.masters()
                .say(
                        leader,
                        ScriptedMasters.leader(
                                leader, epoch, 5L << 20, List.of(pool + "-default-0", pool + "-default-1")));
        operator.masters().say(pool + "-master-1", ScriptedMasters.standby(pool + "-master-1", epoch));
        cluster.takeLease(pool + "-master", leader, epoch);
    }

    private static void awaitPhase(String pool, PoolPhase phase) {
        await().atMost(LIMIT)
                .untilAsserted(() ->
                        assertThat(operator.pool(pool).getStatus().phase()).isEqualTo(phase));
    }

    private static void awaitReason(String pool, Reason reason) {
        await().atMost(LIMIT).until(() -> condition(pool, reason).isPresent());
    }

    private static Optional<Condition> condition(String pool, Reason reason) {
        KvCachePool actual = operator.pool(pool);
        return actual.getStatus() == null
                ? Optional.empty()
                : actual.getStatus().conditions().stream()
                        .filter(condition -> condition.reason().equals(reason.text()))
                        .filter(condition -> condition.observedGeneration()
                                == (long) actual.getMetadata().getGeneration())
                        .findFirst();
    }

    private static StatefulSet statefulSet(String name) {
        return operator.client()
                .apps()
                .statefulSets()
                .inNamespace(NAMESPACE)
                .withName(name)
                .get();
    }

    private static List<String> arguments(String statefulSet) {
        return statefulSet(statefulSet)
                .getSpec()
                .getTemplate()
                .getSpec()
                .getContainers()
                .getFirst()
                .getArgs();
    }
}
