// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The directory of a storage node that is away when its node loses its label, on a real API server with a scripted leader; the test
 * plays the controllers of DaemonSets and Jobs.
 */
class AwayDirectoryLifecycleTest {
    private static final String NAMESPACE = "away-directories";
    private static final String NODE = "away-directories-1";
    private static final String LABEL = "away-directories";
    private static final String ID = "a." + NODE;
    private static final String SPEC = """
            {storage: [{name: a, capacity: 1Gi, perNode: {nodeSelector: {away-directories: "yes"}},
              volume: {type: hostPath, path: /dev/shm/kvpool}}]}""";

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in(NAMESPACE);

    @Test
    void itGoesWhenItsPodHasComeBackAndIsEmptyThroughAnOperatorThatDiesAtEachStep() {
        ClusterActor cluster = OPERATOR.cluster();
        cluster.addNode(NODE, Map.of(LABEL, "yes"));
        PoolUnderTest pool = OPERATOR.make("demo", SPEC);
        await().until(() -> pool.status() != null);
        String path = list(pool).get(ID);
        OPERATOR.masters().onDrain(node -> says("drained", 0, 0L), node -> {});
        cluster.runPodsOf("demo-master");
        says("ready", 5, null);
        cluster.takeLease("demo-master", "demo-master-0", 1);
        cluster.runPodOn("demo-a", NODE);

        // Its pod goes while no operator looks, and its node loses the label.
        OPERATOR.stop();
        cluster.removePod("demo-a-" + NODE);
        says("away", 5, null);
        cluster.label(NODE, LABEL, "no");
        OPERATOR.restart();
        await().until(() -> phase(pool).equals(Optional.of(StepState.UNDER_WAY)));
        OPERATOR.restart();
        await().untilAsserted(() -> assertThat(affinity(pool)).contains(NODE));
        assertThat(pool.expectedNodes()).contains(ID);
        assertThat(pool.cleaning()).isEmpty();
        assertThat(list(pool)).containsEntry(ID, path);

        // Kubernetes puts a pod there again, by the name of the node, and it is emptied.
        cluster.runPodOn("demo-a", NODE);
        says("ready", 5, null);
        await().untilAsserted(() -> assertThat(affinity(pool)).doesNotContain(NODE));
        assertThat(list(pool)).containsEntry(ID, path + ",released");
        assertThat(pool.expectedNodes()).doesNotContain(ID);
        assertThat(pool.cleaning()).as("while its pod is there").isEmpty();

        // Then that pod goes, the leader forgets it, and the Job that failed is removed by Kubernetes.
        cluster.removePod("demo-a-" + NODE);
        await().until(() -> pool.cleaning().size() == 1);
        Job failed = pool.cleaning().getFirst();
        OPERATOR.stop();
        OPERATOR.masters().say("demo-master-0", ScriptedMasters.leading("demo-master-0", 1, List.of()));
        OPERATOR.client().resource(failed).delete();
        OPERATOR.restart();
        await().until(() -> pool.cleaning().stream()
                .anyMatch(job ->
                        !job.getMetadata().getUid().equals(failed.getMetadata().getUid())));
        assertThat(pool.cleaning().getFirst().getSpec().getTemplate().getSpec().getNodeName())
                .isEqualTo(NODE);
        OPERATOR.restart();
        cluster.complete(pool.cleaning().getFirst());
        await().untilAsserted(() -> {
            assertThat(list(pool)).isEmpty();
            assertThat(pool.status().steps()).isEmpty();
        });
    }

    /** What the leader says of the storage node from now on. */
    private static void says(String state, long objects, Long objectsLeft) {
        PoolReport.Node node = Reports.node(ID, state)
                .with("usedBytes", objects << 20)
                .with("objects", objects)
                .with("objectsLeft", objectsLeft)
                .build();
        OPERATOR.masters().say("demo-master-0", ScriptedMasters.leading("demo-master-0", 1, List.of(node)));
        OPERATOR.masters().say("demo-master-1", ScriptedMasters.standby("demo-master-1", 1));
    }

    private static Optional<StepState> phase(PoolUnderTest pool) {
        return pool.status().steps().stream()
                .filter(step -> step.of().equals(ID))
                .map(StepStatus::state)
                .findFirst();
    }

    private static String affinity(PoolUnderTest pool) {
        return pool.perNode("a").getSpec().getTemplate().getSpec().getAffinity().toString();
    }

    /** What is written down of directories, by storage node. */
    private static Map<String, String> list(PoolUnderTest pool) {
        return pool.directories().stream().findFirst().map(ConfigMap::getData).orElse(Map.of());
    }
}
