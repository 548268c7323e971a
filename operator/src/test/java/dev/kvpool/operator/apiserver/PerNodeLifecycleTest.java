// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A perNode set while nodes come, change and go, on a real API server; the test plays the DaemonSet controller. */
class PerNodeLifecycleTest {
    private static final String ZONE = "topology.kubernetes.io/zone";
    private static final String SPEC = "{storage: [{name: a, capacity: 1Gi, perNode: {nodeSelector: {per-node: %s}}}]}";

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in("per-node");

    /** Tests of this class name them alike. */
    @AfterEach
    void removeNodes() {
        OPERATOR.cluster().removeNodes();
    }

    @Test
    void nodesComeChangeAndGo() {
        ClusterActor cluster = OPERATOR.cluster();
        PoolUnderTest pool = OPERATOR.make("grows", SPEC.formatted("grows"));
        pool.awaitReason(Reason.NO_NODE_SELECTED);

        cluster.addNode("per-node-1", Map.of("per-node", "grows"));
        cluster.addNode("per-node-2", Map.of("per-node", "grows"));
        cluster.addNode("per-node-3", Map.of("per-node", "other"));
        pool.awaitExpectedNodes("a.per-node-1 per-node-1\na.per-node-2 per-node-2\n");

        pool.runOn("a", "per-node-1", "per-node-2");
        pool.awaitPhase(PoolPhase.READY);
        assertThat(pool.status().storage().summary()).isEqualTo("2/2");
        awaitNamedNodes(pool, "per-node-1", "per-node-2");

        // A label goes: the storage node stays, by name, and the status says so.
        cluster.label("per-node-2", "per-node", "other");
        pool.awaitReason(Reason.WAITS_FOR_DRAIN);
        assertThat(pool.status().message()).contains("keeps its storage on per-node-2");
        pool.awaitExpectedNodes("a.per-node-1 per-node-1\na.per-node-2 per-node-2\n");

        // A user deletes that pod: now its bytes are gone, and there is nothing to wait for.
        cluster.removePod("grows-a-per-node-2");
        pool.awaitExpectedNodes("a.per-node-1 per-node-1\n");
        awaitNamedNodes(pool, "per-node-1");

        // The machine is gone: Kubernetes removes its pod, since no kubelet will say that it ended.
        cluster.removeNode("per-node-1");
        cluster.removePod("grows-a-per-node-1");
        awaitNamedNodes(pool);
        pool.awaitExpectedNodes("\n");
    }

    @Test
    void mastersLearnTheZonesOfNodes() {
        OPERATOR.cluster().addNode("per-node-1", Map.of("per-node", "zoned", ZONE, "eu-1"));
        OPERATOR.cluster().addNode("per-node-2", Map.of("per-node", "zoned"));
        PoolUnderTest pool = OPERATOR.make("zoned", SPEC.formatted("zoned"));
        pool.awaitExpectedNodes("a.per-node-1 per-node-1\na.per-node-2 per-node-2\n");

        OPERATOR.cluster().label("per-node-2", ZONE, "eu-2");

        pool.awaitExpectedNodes("a.per-node-1 eu-1\na.per-node-2 eu-2\n");
    }

    @Test
    void theDaemonSetIsOwnedByThePoolAndIsNotChangedAgain() {
        OPERATOR.cluster().addNode("per-node-1", Map.of("per-node", "calm"));
        PoolUnderTest pool = OPERATOR.make("calm", SPEC.formatted("calm"));
        pool.awaitExpectedNodes("a.per-node-1 per-node-1\n");
        pool.awaitReason(Reason.STARTING);
        pool.runOn("a", "per-node-1");
        awaitNamedNodes(pool, "per-node-1");
        DaemonSet before = pool.perNode("a");
        assertThat(before.getMetadata().getOwnerReferences())
                .singleElement()
                .satisfies(owner -> assertThat(owner.getUid()).isEqualTo(pool.uid()));

        long asked = OPERATOR.masters().questions();
        OPERATOR.cluster().label("per-node-1", "unrelated", "yes");
        await().until(() -> OPERATOR.masters().questions() > asked + 1);

        assertThat(pool.perNode("a").getMetadata().getResourceVersion())
                .isEqualTo(before.getMetadata().getResourceVersion());
    }

    private static void awaitNamedNodes(PoolUnderTest pool, String... nodes) {
        await().untilAsserted(() -> assertThat(pool.perNode("a")
                        .getSpec()
                        .getTemplate()
                        .getSpec()
                        .getAffinity()
                        .getNodeAffinity()
                        .getRequiredDuringSchedulingIgnoredDuringExecution()
                        .getNodeSelectorTerms())
                .flatExtracting(NodeSelectorTerm::getMatchFields)
                .extracting(field -> field.getValues().getFirst())
                .containsExactly(nodes));
    }
}
