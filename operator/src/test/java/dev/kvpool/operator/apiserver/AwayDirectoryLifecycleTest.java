// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.DrainPhase;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.report.PollInterval;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The directory of a storage node that is away when its node loses its label, on a real API server with a scripted leader; the test
 * plays the controllers of DaemonSets and Jobs.
 */
class AwayDirectoryLifecycleTest {
    private static final String NAMESPACE = "away-directories";
    private static final String NODE = "away-directories-1";
    private static final String LABEL = "away-directories";
    private static final String ID = "a." + NODE;
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final String SPEC = """
            {storage: [{name: a, capacity: 1Gi, perNode: {nodeSelector: {away-directories: "yes"}},
              volume: {type: hostPath, path: /dev/shm/kvpool}}]}""";

    private static OperatorUnderTest operator;
    private static KubernetesClient client;
    private static ClusterActor cluster;

    @BeforeAll
    static void start() {
        operator = new OperatorUnderTest(NAMESPACE, new PollInterval(Duration.ofMillis(500), Duration.ofMillis(200)));
        client = operator.client();
        cluster = new ClusterActor(client, NAMESPACE);
        cluster.addNode(NODE, Map.of(LABEL, "yes"));
    }

    @AfterAll
    static void stop() {
        client.nodes().withName(NODE).delete();
        operator.close();
    }

    @Test
    void itGoesWhenItsPodHasComeBackAndIsEmptyThroughAnOperatorThatDiesAtEachStep() {
        operator.applyPool("demo", SPEC);
        await().atMost(LIMIT).until(() -> operator.pool("demo").getStatus() != null);
        String path = list().get(ID);
        operator.masters().onDrain(node -> says("drained", 0, 0L), node -> {});
        cluster.runPodsOf("demo-master");
        says("ready", 5, null);
        cluster.takeLease("demo-master", "demo-master-0", 1);
        cluster.runPodOn("demo-a", NODE);

        // Its pod goes while nobody looks, and its node loses the label.
        operator.stop();
        cluster.removePod("demo-a-" + NODE);
        says("away", 5, null);
        cluster.label(NODE, LABEL, "no");
        operator.restart();
        await().atMost(LIMIT).until(() -> phase().equals(Optional.of(DrainPhase.EMPTYING)));
        operator.restart();
        await().atMost(LIMIT).untilAsserted(() -> assertThat(affinity()).contains(NODE));
        assertThat(expected()).contains(ID);
        assertThat(jobs()).isEmpty();
        assertThat(list()).containsEntry(ID, path);

        // Kubernetes puts a pod there again, by the name of the node, and it is emptied.
        cluster.runPodOn("demo-a", NODE);
        says("ready", 5, null);
        await().atMost(LIMIT).untilAsserted(() -> assertThat(affinity()).doesNotContain(NODE));
        assertThat(list()).containsEntry(ID, path + ",released");
        assertThat(expected()).doesNotContain(ID);
        assertThat(jobs()).as("while its pod is there").isEmpty();

        // Then that pod goes, the leader forgets it, and the Job that failed is removed by Kubernetes.
        cluster.removePod("demo-a-" + NODE);
        await().atMost(LIMIT).until(() -> jobs().size() == 1);
        Job failed = jobs().getFirst();
        operator.stop();
        operator.masters().say("demo-master-0", ScriptedMasters.leading("demo-master-0", 1, List.of()));
        client.resource(failed).delete();
        operator.restart();
        await().atMost(LIMIT)
                .until(() -> jobs().stream()
                        .anyMatch(job -> !job.getMetadata()
                                .getUid()
                                .equals(failed.getMetadata().getUid())));
        assertThat(jobs().getFirst().getSpec().getTemplate().getSpec().getNodeName())
                .isEqualTo(NODE);
        operator.restart();
        complete(jobs().getFirst());
        await().atMost(LIMIT).untilAsserted(() -> {
            assertThat(list()).isEmpty();
            assertThat(operator.pool("demo").getStatus().drains()).isEmpty();
        });
    }

    /** What the leader says of the storage node from now on. */
    private static void says(String state, long objects, Long objectsLeft) {
        PoolReport.Node node = Reports.node(
                ID,
                state,
                "",
                false,
                objects << 20,
                objects,
                "0.1.0",
                List.of("tcp"),
                "00000000000000a1",
                null,
                null,
                null,
                objectsLeft,
                List.of());
        operator.masters().say("demo-master-0", ScriptedMasters.leading("demo-master-0", 1, List.of(node)));
        operator.masters().say("demo-master-1", ScriptedMasters.standby("demo-master-1", 1));
    }

    private static Optional<DrainPhase> phase() {
        return operator.pool("demo").getStatus().drains().stream()
                .filter(drain -> drain.node().equals(ID))
                .map(DrainStatus::phase)
                .findFirst();
    }

    private static String expected() {
        return Children.expectedNodes(client, NAMESPACE, "demo");
    }

    private static String affinity() {
        return client.apps()
                .daemonSets()
                .inNamespace(NAMESPACE)
                .withName("demo-a")
                .get()
                .getSpec()
                .getTemplate()
                .getSpec()
                .getAffinity()
                .toString();
    }

    /** What is written down of directories, by storage node. */
    private static Map<String, String> list() {
        return client
                .configMaps()
                .inNamespace(NAMESPACE)
                .withLabel(PoolLabels.ROLE, PoolLabels.ROLE_DIRECTORIES)
                .list()
                .getItems()
                .stream()
                .findFirst()
                .map(ConfigMap::getData)
                .orElse(Map.of());
    }

    private static List<Job> jobs() {
        return client.batch()
                .v1()
                .jobs()
                .inNamespace(NAMESPACE)
                .withLabel(PoolLabels.ROLE, PoolLabels.ROLE_CLEANING)
                .list()
                .getItems();
    }

    private static void complete(Job job) {
        client.resource(job).subresource("status").patch(PatchContext.of(PatchType.JSON_MERGE), """
                        {"status": {"succeeded": 1, "startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:01Z",
                          "uncountedTerminatedPods": {}, "conditions": [
                            {"type": "SuccessCriteriaMet", "status": "True"}, {"type": "Complete", "status": "True"}]}}
                        """);
    }
}
