// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.ExpectationSource;
import dev.kvpool.api.v1alpha1.status.PodSizing;
import dev.kvpool.api.v1alpha1.status.SizingStatus;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import org.junit.jupiter.api.Test;

class LackOfMemoryTest {
    private static final SizingStatus SIZING = new SizingStatus(
            1L << 20,
            ExpectationSource.POOL,
            1L << 20,
            List.of(
                    new PodSizing("master", new Quantity("1Gi"), null, "index 512Mi + process 512Mi = 1Gi"),
                    new PodSizing("fast", new Quantity("70Gi"), null, "segment 64Gi + rest 6Gi = 70Gi"),
                    new PodSizing("slow", new Quantity("9Gi"), null, "segment 8Gi + rest 1Gi = 9Gi")));

    private static final String FULL = "0/2 nodes are available: 2 Insufficient memory.";

    @Test
    void saysThatNoNodeIsLargeEnoughAndWhatThePodsConsistOf() {
        assertThat(sentences(waiting("demo-fast-0", "storage", "fast", FULL)))
                .isEqualTo(
                        " A storage node of set fast may take 70Gi of memory (segment 64Gi + rest 6Gi = 70Gi), and the largest"
                                + " Kubernetes node has 62Gi for pods. Request less, or add a larger node.");
    }

    @Test
    void saysThatOthersHaveTheMemoryOfANodeThatWouldBeLargeEnough() {
        assertThat(sentences(
                        waiting("demo-master-0", "master", "", FULL), waiting("demo-slow-0", "storage", "slow", FULL)))
                .contains(" A master may take 1Gi of memory")
                .contains(
                        " A storage node of set slow may take 9Gi of memory (segment 8Gi + rest 1Gi = 9Gi); the largest"
                                + " Kubernetes node has 62Gi, too much of which other pods have requested.");
    }

    @Test
    void saysItOnceForAllPodsOfASet() {
        assertThat(sentences(
                        waiting("demo-fast-0", "storage", "fast", FULL),
                        waiting("demo-fast-1", "storage", "fast", FULL)))
                .containsOnlyOnce("set fast");
    }

    @Test
    void saysNothingOfPodsThatLackSomethingElse() {
        assertThat(sentences(waiting("demo-fast-0", "storage", "fast", "0/2 nodes are available: 2 Insufficient cpu.")))
                .isEmpty();
    }

    @Test
    void saysNothingWhereNodesAreNotSeen() {
        List<ObservedPod> pods = List.of(waiting("demo-fast-0", "storage", "fast", FULL));
        assertThat(LackOfMemory.sentences(pods, List.of(), SIZING)).isEmpty();
    }

    private static String sentences(ObservedPod... pods) {
        List<ObservedNode> nodes = List.of(node("small", "30Gi"), node("large", "65011712Ki"), node("new", null));
        return LackOfMemory.sentences(List.of(pods), nodes, SIZING);
    }

    private static ObservedNode node(String name, String memory) {
        Node node = new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .build();
        return ObservedNode.of(
                memory == null
                        ? node
                        : node.edit()
                                .withNewStatus()
                                .addToAllocatable("memory", new Quantity(memory))
                                .endStatus()
                                .build());
    }

    private static ObservedPod waiting(String name, String role, String set, String schedulerSays) {
        return ObservedPod.of(new PodBuilder()
                .withNewMetadata()
                .withName(name)
                .addToLabels(PoolLabels.ROLE, role)
                .addToLabels(PoolLabels.SET, set)
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .withNewStatus()
                .addNewCondition()
                .withType("PodScheduled")
                .withStatus("False")
                .withMessage(schedulerSays)
                .endCondition()
                .endStatus()
                .build());
    }
}
