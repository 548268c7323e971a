// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A machine has died, and Kubernetes waits for it: what the pool says of its pods. */
class PodsOfDeadNodesTest {
    private static final String SENTENCE =
            " Kubernetes node worker is not ready, so Kubernetes waits for it to confirm that demo-a-1 ended, and"
                    + " recreates no pod elsewhere. If the machine is certainly off: kubectl taint node worker"
                    + " node.kubernetes.io/out-of-service=nodeshutdown:NoExecute.";

    @Test
    void theConditionNamesTheRemedy() {
        assertThat(storageReady(node("Unknown"), PoolSketch.NOON.minusSeconds(1)))
                .isEqualTo(
                        "1 of 2 storage nodes are ready. demo-a-1 is away. Pod demo-a-1 is being deleted." + SENTENCE);
    }

    @Test
    void withinItsGraceAPodMayEnd() {
        assertThat(storageReady(node("Unknown"), PoolSketch.NOON.plusSeconds(1)))
                .doesNotContain("out-of-service");
    }

    @Test
    void aNodeThatAnswersEndsItsPods() {
        assertThat(storageReady(node("True"), PoolSketch.NOON.minus(Duration.ofHours(1))))
                .doesNotContain("out-of-service");
    }

    private static String storageReady(ObservedNode node, Instant goneBy) {
        PoolReport report = PoolSketch.leader(
                List.of(PoolSketch.node("demo-a-0", "ready", "", 0, 0), PoolSketch.node("demo-a-1", "away", "", 0, 0)));
        PoolSketch sketch = new PoolSketch("{storage: [{name: a, capacity: 1Gi, replicas: 2}]}")
                .set("a", 2)
                .pod(ObservedPod.of(deleted(goneBy)))
                .node(node)
                .masters(2, 1, report);
        List<Finding> findings = new PoolFindings(sketch.observation(), sketch.plan(), PoolSketch.SETTINGS)
                .all(List.of(), new Outcome(List.of(), List.of()));
        return findings.stream()
                .filter(finding -> finding.reason() == Reason.NODES_NOT_READY)
                .findFirst()
                .orElseThrow()
                .message();
    }

    private static ObservedNode node(String ready) {
        return ObservedNode.of(new NodeBuilder()
                .withNewMetadata()
                .withName("worker")
                .endMetadata()
                .withNewStatus()
                .addNewCondition()
                .withType("Ready")
                .withStatus(ready)
                .endCondition()
                .endStatus()
                .build());
    }

    private static Pod deleted(Instant goneBy) {
        return new PodBuilder()
                .withNewMetadata()
                .withName("demo-a-1")
                .withLabels(PoolLabels.ofSet("demo", "a"))
                .addToAnnotations(PoolLabels.SETTINGS, "new")
                .withDeletionTimestamp(goneBy.toString())
                .endMetadata()
                .withNewSpec()
                .withNodeName("worker")
                .endSpec()
                .build();
    }
}
