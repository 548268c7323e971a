// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The Node object of a machine was deleted: its pods go without the word of a kubelet. */
class PodsOfGoneNodesTest {
    private static final Instant LONG_AGO = PoolSketch.NOON.minusSeconds(3600);

    @Test
    void podsOfANodeThatIsGoneAreRemoved() {
        assertThat(lost(sketch(pod("demo-a-0", "gone", LONG_AGO), pod("demo-a-1", "here", LONG_AGO))))
                .containsExactly("demo-a-0");
    }

    @Test
    void alsoWhereTheSpecIsNotCarriedOut() {
        PoolSketch paused = new PoolSketch("{paused: true, storage: [{name: a, capacity: 1Gi}]}")
                .node("here", Map.of())
                .pod(pod("demo-a-0", "gone", LONG_AGO));

        assertThat(lost(paused)).containsExactly("demo-a-0");
    }

    @Test
    void aNewNodeMayHavePodsBeforeItIsSeen() {
        assertThat(lost(sketch(pod("demo-a-0", "new", PoolSketch.NOON.minusSeconds(20)))))
                .isEmpty();
    }

    @Test
    void nodesThatWereNotListedAreNotGone() {
        PoolSketch withoutNodes = new PoolSketch("{storage: [{name: a, capacity: 1Gi}]}")
                .emptySet("a", 1)
                .pod(pod("demo-a-0", "somewhere", LONG_AGO));

        assertThat(lost(withoutNodes)).isEmpty();
    }

    @Test
    void aPodWithoutANodeIsNotLost() {
        assertThat(lost(sketch(pod("demo-a-0", null, LONG_AGO)))).isEmpty();
    }

    private static List<String> lost(PoolSketch sketch) {
        return sketch.plan().lostPods().stream().map(ObservedPod::name).toList();
    }

    private static PoolSketch sketch(ObservedPod... pods) {
        PoolSketch sketch = new PoolSketch("{replicas: 2, storage: [{name: a, capacity: 1Gi}]}")
                .emptySet("a", 2)
                .node("here", Map.of());
        for (ObservedPod pod : pods) {
            sketch.pod(pod);
        }
        return sketch;
    }

    private static ObservedPod pod(String name, String node, Instant runningSince) {
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .withName(name)
                .withLabels(PoolLabels.ofSet("demo", "a"))
                .addToAnnotations(PoolLabels.SETTINGS, "new")
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                .endSpec()
                .withNewStatus()
                .addNewContainerStatus()
                .withName("node")
                .withNewState()
                .withNewRunning()
                .withStartedAt(runningSince.toString())
                .endRunning()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build();
        return ObservedPod.of(pod);
    }
}
