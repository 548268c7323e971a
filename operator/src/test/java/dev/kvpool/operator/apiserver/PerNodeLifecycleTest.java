// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.PoolPhase;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A perNode set while nodes come, change and go, on a real API server; the test plays the DaemonSet controller. */
class PerNodeLifecycleTest {
    private static final String NAMESPACE = "per-node";
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final List<String> NODES = List.of("per-node-1", "per-node-2", "per-node-3");
    private static final String ZONE = "topology.kubernetes.io/zone";
    private static final String SPEC = "{storage: [{name: a, capacity: 1Gi, perNode: {nodeSelector: {per-node: %s}}}]}";

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

    /** Nodes are of the whole cluster; other tests must not see these. */
    @AfterEach
    void removeNodes() {
        NODES.forEach(node -> operator.client().nodes().withName(node).delete());
    }

    @Test
    void nodesComeChangeAndGo() {
        operator.applyPool("grows", SPEC.formatted("grows"));
        awaitReason("grows", Reason.NO_NODE_SELECTED);

        cluster.addNode("per-node-1", Map.of("per-node", "grows"));
        cluster.addNode("per-node-2", Map.of("per-node", "grows"));
        cluster.addNode("per-node-3", Map.of("per-node", "other"));
        awaitExpected("grows", "a.per-node-1 per-node-1\na.per-node-2 per-node-2\n");

        run("grows", "per-node-1", "per-node-2");
        await().atMost(LIMIT).untilAsserted(() -> {
            assertThat(operator.pool("grows").getStatus().phase()).isEqualTo(PoolPhase.READY);
            assertThat(operator.pool("grows").getStatus().storage().summary()).isEqualTo("2/2");
            assertThat(namedNodes("grows")).containsExactly("per-node-1", "per-node-2");
        });

        // A label goes: the storage node stays, by name, and the status says so.
        cluster.label("per-node-2", "per-node", "other");
        awaitReason("grows", Reason.WAITS_FOR_DRAIN);
        assertThat(operator.pool("grows").getStatus().message()).contains("keeps its storage on per-node-2");
        awaitExpected("grows", "a.per-node-1 per-node-1\na.per-node-2 per-node-2\n");

        // Somebody deletes that pod: now its bytes are gone, and nobody waits for it any more.
        cluster.removePod("grows-a-per-node-2");
        awaitExpected("grows", "a.per-node-1 per-node-1\n");
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(namedNodes("grows")).containsExactly("per-node-1"));

        // The machine is gone: expected until Kubernetes has removed its pod.
        operator.client().nodes().withName("per-node-1").delete();
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(namedNodes("grows")).isEmpty());
        awaitExpected("grows", "a.per-node-1\n");
        cluster.removePod("grows-a-per-node-1");
        awaitExpected("grows", "\n");
    }

    @Test
    void mastersLearnTheZonesOfNodes() {
        cluster.addNode("per-node-1", Map.of("per-node", "zoned", ZONE, "eu-1"));
        cluster.addNode("per-node-2", Map.of("per-node", "zoned"));
        operator.applyPool("zoned", SPEC.formatted("zoned"));
        awaitExpected("zoned", "a.per-node-1 per-node-1\na.per-node-2 per-node-2\n");

        cluster.label("per-node-2", ZONE, "eu-2");

        awaitExpected("zoned", "a.per-node-1 eu-1\na.per-node-2 eu-2\n");
    }

    @Test
    void theDaemonSetIsOwnedByThePoolAndIsNotChangedAgain() {
        cluster.addNode("per-node-1", Map.of("per-node", "calm"));
        String uid =
                operator.applyPool("calm", SPEC.formatted("calm")).getMetadata().getUid();
        awaitExpected("calm", "a.per-node-1 per-node-1\n");
        awaitReason("calm", Reason.STARTING);
        run("calm", "per-node-1");
        await().atMost(LIMIT).untilAsserted(() -> assertThat(namedNodes("calm")).containsExactly("per-node-1"));
        DaemonSet before = daemonSet("calm");
        assertThat(before.getMetadata().getOwnerReferences())
                .singleElement()
                .satisfies(owner -> assertThat(owner.getUid()).isEqualTo(uid));

        long asked = operator.masters().questions();
        cluster.label("per-node-1", "unrelated", "yes");
        await().atMost(LIMIT).until(() -> operator.masters().questions() > asked + 1);

        assertThat(daemonSet("calm").getMetadata().getResourceVersion())
                .isEqualTo(before.getMetadata().getResourceVersion());
    }

    private static void run(String pool, String... nodes) {
        cluster.runPodsOf(pool + "-master");
        for (String node : nodes) {
            cluster.runPodOn(pool + "-a", node);
        }
        String leader = pool + "-master-0";
        List<String> ids = List.of(nodes).stream().map(node -> "a." + node).toList();
        operator.masters().say(leader, ScriptedMasters.leader(leader, 1, 5L << 20, ids));
        operator.masters().say(pool + "-master-1", ScriptedMasters.standby(pool + "-master-1", 1));
        cluster.takeLease(pool + "-master", leader, 1);
    }

    private static void awaitExpected(String pool, String ids) {
        await().atMost(LIMIT)
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(Children.expectedNodes(operator.client(), NAMESPACE, pool))
                        .isEqualTo(ids));
    }

    private static void awaitReason(String pool, Reason reason) {
        await().atMost(LIMIT).until(() -> {
            var status = operator.pool(pool).getStatus();
            return status != null
                    && status.conditions().stream()
                            .anyMatch(condition -> condition.reason().equals(reason.text()));
        });
    }

    private static DaemonSet daemonSet(String pool) {
        return operator.client()
                .apps()
                .daemonSets()
                .inNamespace(NAMESPACE)
                .withName(pool + "-a")
                .get();
    }

    private static List<String> namedNodes(String pool) {
        return daemonSet(pool)
                .getSpec()
                .getTemplate()
                .getSpec()
                .getAffinity()
                .getNodeAffinity()
                .getRequiredDuringSchedulingIgnoredDuringExecution()
                .getNodeSelectorTerms()
                .stream()
                .flatMap(term -> term.getMatchFields().stream())
                .map(field -> field.getValues().getFirst())
                .toList();
    }
}
