// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A pool from creation to a change of leader, on a real API server with scripted masters. */
class PoolLifecycleTest {
    private static final String NAMESPACE = "lifecycle";
    private static final String ONE_SET = "{storage: [{name: default, capacity: 1Gi, replicas: 2}]}";

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in(NAMESPACE);

    @Test
    void aPoolBecomesReadyAndItsLeaderServiceFollowsTheLeader() {
        PoolUnderTest pool = started("demo", ONE_SET).ready();
        assertThat(OPERATOR.cluster().isLabelledLeader("demo-master-0")).isTrue();

        pool.handOver();
        OPERATOR.masters().silence("demo-master-0");

        await().untilAsserted(() -> assertThat(pool.status().leader().epoch()).isEqualTo(2));
        KvCachePoolStatus status = pool.status();
        assertThat(status.leader().pod()).isEqualTo("demo-master-1");
        assertThat(status.storage().summary()).isEqualTo("2/2");
        assertThat(status.version().running()).isEqualTo("0.1.0");
        assertThat(status.protocols()).containsExactly("shm", "tcp");
        assertThat(OPERATOR.cluster().isLabelledLeader("demo-master-0")).isFalse();
        assertThat(OPERATOR.cluster().isLabelledLeader("demo-master-1")).isTrue();
    }

    @Test
    void everyChildIsOwnedByThePool() {
        PoolUnderTest pool = started("owned", ONE_SET);

        assertThat(pool.children())
                .hasSize(15)
                .allSatisfy(child -> assertThat(child.getMetadata().getOwnerReferences())
                        .singleElement()
                        .satisfies(owner -> assertThat(owner.getUid()).isEqualTo(pool.uid())));
    }

    @Test
    void aChangedSpecReachesThePods() {
        PoolUnderTest pool = started("changed", ONE_SET);

        pool.apply("{cache: {replicas: 2}, storage: [{name: default, capacity: 1Gi, replicas: 3}]}");

        await().untilAsserted(() -> {
            assertThat(pool.set("default").getSpec().getReplicas()).isEqualTo(3);
            assertThat(pool.cacheRules()).contains("replicas=2\n");
        });
        assertThat(pool.expectedNodes()).isEqualTo("changed-default-0\nchanged-default-1\nchanged-default-2\n");
    }

    @Test
    void mastersLearnTheZonesOfStorageNodesOnceTheirPodsAreScheduled() {
        OPERATOR.cluster().addNode("lifecycle-1", Map.of("topology.kubernetes.io/zone", "eu-1"));
        PoolUnderTest pool = started("zoned", ONE_SET);
        assertThat(pool.expectedNodes()).isEqualTo("zoned-default-0\nzoned-default-1\n");
        pool.run();

        OPERATOR.cluster().schedulePodsOf("zoned-default", "lifecycle-1");

        pool.awaitExpectedNodes("zoned-default-0 lifecycle-1\nzoned-default-1 lifecycle-1\n");
    }

    @Test
    void fewerNodesWaitUntilTheyAreEmptyOrTheSpecAllowsTheLoss() {
        PoolUnderTest pool = started("shrink", ONE_SET).ready();

        pool.apply("{storage: [{name: default, capacity: 1Gi, replicas: 1}]}");

        assertThat(pool.awaitReason(Reason.WAITS_FOR_DRAIN))
                .isEqualTo("Storage set default keeps 2 nodes instead of 1 until shrink-default-1 is empty.");
        assertThat(pool.phase()).isEqualTo(PoolPhase.WAITING);
        assertThat(pool.set("default").getSpec().getReplicas()).isEqualTo(2);

        pool.apply("{onDataLoss: Replace, storage: [{name: default, capacity: 1Gi, replicas: 1}]}");

        await().untilAsserted(() ->
                assertThat(pool.set("default").getSpec().getReplicas()).isEqualTo(1));
    }

    @Test
    void aPausedPoolIsNotTouched() {
        PoolUnderTest pool = OPERATOR.make("paused", "{paused: true, storage: [{name: default, capacity: 1Gi}]}");

        pool.awaitReason(Reason.PAUSED);

        assertThat(pool.children()).isEmpty();
    }

    @Test
    void anObjectOfAnotherOwnerIsLeftAlone() {
        OPERATOR.client()
                .resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName("taken-client")
                        .withNamespace(NAMESPACE)
                        .endMetadata()
                        .addToData("mine", "yes")
                        .build())
                .create();

        PoolUnderTest pool = OPERATOR.make("taken", ONE_SET);

        pool.awaitReason(Reason.NAME_TAKEN);
        assertThat(pool.child(ConfigMap.class, "client").getData()).containsOnlyKeys("mine");
    }

    /** On an API server that lets only those change owner references who may delete the object, as that of OpenShift does. */
    @Test
    void anotherDeletionPolicyChangesTheOwnersOfAllObjects() {
        String spec = "{deletionPolicy: %s, storage: [{name: default, capacity: 1Gi}]}";
        PoolUnderTest pool = started("policies", spec.formatted("Delete"));
        assertThat(pool.children())
                .hasSizeGreaterThan(10)
                .allSatisfy(child ->
                        assertThat(child.getMetadata().getOwnerReferences()).hasSize(1));

        pool.apply(spec.formatted("Retain"));

        await().untilAsserted(() -> assertThat(pool.children())
                .allSatisfy(child ->
                        assertThat(child.getMetadata().getOwnerReferences()).isEmpty()));
    }

    @Test
    void anObjectThatTheApiServerRefusesIsNamedAndTheOthersAreMade() {
        PoolUnderTest pool = OPERATOR.make(
                "refused",
                "{storage: [{name: default, capacity: 1Gi, perNode: {}, podTemplate: {tolerations: [{key: a, operator: Maybe}]}}]}");

        assertThat(pool.awaitReason(Reason.APPLY_FAILED))
                .contains("DaemonSet refused-default could not be changed", "Maybe");
        assertThat(pool.masters()).isNotNull();
    }

    @Test
    void retainedObjectsAreTakenOverWithTheirIdentity() {
        PoolUnderTest pool = started("kept", "{deletionPolicy: Retain, storage: [{name: default, capacity: 1Gi}]}");
        String first = pool.uid();
        pool.delete();
        await().until(() -> pool.get() == null);
        assertThat(pool.children()).hasSize(15);

        pool.apply("{storage: [{name: default, capacity: 1Gi}]}");

        pool.awaitReason(Reason.APPLIED);
        assertThat(PoolUnderTest.container(pool.masters()).getArgs()).contains("--pool-id=" + first);
        assertThat(pool.set("default").getMetadata().getOwnerReferences())
                .singleElement()
                .satisfies(owner -> assertThat(owner.getUid()).isEqualTo(pool.uid()));
    }

    @Test
    void objectsOfADeletedPoolOfTheSameNameAreWaitedFor() {
        PoolUnderTest pool = started("again", ONE_SET);
        pool.delete();
        await().until(() -> pool.get() == null);

        pool.apply(ONE_SET);

        pool.awaitReason(Reason.OLD_POOL_REMAINS);
        // What garbage collection does on a cluster.
        pool.children().forEach(child -> OPERATOR.client().resource(child).delete());
        pool.awaitReason(Reason.APPLIED);
    }

    @Test
    void aMissingTransferEngineIsNamedAndItsSettingsReachThePodsOnceItIsThere() {
        PoolUnderTest pool =
                OPERATOR.make("engined", "{transferEngine: later, storage: [{name: default, capacity: 1Gi}]}");
        assertThat(pool.awaitReason(Reason.TRANSFER_ENGINE_MISSING))
                .contains("There is no TransferEngine later in namespace lifecycle");

        OPERATOR.applyEngine("later", "{protocols: [tcp]}");
        pool.awaitReason(Reason.APPLIED);
        assertThat(PoolUnderTest.container(pool.set("default")).getArgs()).contains("--protocols=tcp");

        OPERATOR.applyEngine("later", "{protocols: [tcp, shm], socketDirectory: /run/kvpool}");
        await().untilAsserted(() -> {
            assertThat(PoolUnderTest.container(pool.set("default")).getArgs()).contains("--protocols=tcp,shm");
            assertThat(OPERATOR.engine("later").getStatus().pools()).containsExactly("engined");
            assertThat(OPERATOR.engine("later").getStatus().conditions())
                    .extracting(Condition::reason)
                    .containsExactly(Reason.NODES_MISSING.text(), Reason.UP_TO_DATE.text());
        });
    }

    private static PoolUnderTest started(String name, String spec) {
        PoolUnderTest pool = OPERATOR.make(name, spec);
        pool.awaitReason(Reason.STARTING);
        return pool;
    }
}
