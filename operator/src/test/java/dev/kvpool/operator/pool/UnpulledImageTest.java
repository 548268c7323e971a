// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.plan.PoolPlan;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A storage pod whose container waits for an image that cannot be pulled, in the place of one that has ended: its memory is full. */
class UnpulledImageTest {
    private static final String TWO_NODES = "{storage: [{name: a, capacity: 1Gi, replicas: 2}]}";
    private static final String ENDED =
            ", \"lastState\": {\"terminated\": {\"exitCode\": 0, \"reason\": \"Completed\"}}";
    private static final PoolReport LAST_ONE_AWAY = PoolSketch.leader(List.of(
            PoolSketch.node("demo-a-0", "ready", "", 1L << 30, 7),
            PoolSketch.node("demo-a-1", "away", "", 1L << 30, 7)));

    @Test
    void whatHasEndedBeforeHasRun() {
        assertThat(pod("demo-a-1", "new", "").started()).isFalse();
        assertThat(pod("demo-a-1", "new", ENDED).started()).isTrue();
        assertThat(pod("demo-a-1", "new", ", \"lastState\": {}").started()).isFalse();
    }

    @Test
    void itIsNotMadeAnewForOtherSettings() {
        PoolPlan plan = onTwo(pod("demo-a-1", "earlier", ENDED))
                .masters(2, 1, LAST_ONE_AWAY)
                .plan();

        assertThat(PoolSketch.replaced(plan)).isEmpty();
        assertThat(plan.transitions().words().heldBack())
                .startsWith("demo-a-1 still runs with earlier settings: replacing it would lose");
        assertThat(PoolSketch.replaced(onTwo(pod("demo-a-1", "earlier", "")).plan()))
                .as("one that never ran")
                .hasSize(1);
    }

    @Test
    void itIsEmptiedBeforeItGoes() {
        PoolPlan plan = new PoolSketch(TWO_NODES.replace("replicas: 2", "replicas: 1"))
                .set("a", 2)
                .pod(pod("demo-a-1", "new", ENDED))
                .masters(2, 1, LAST_ONE_AWAY)
                .plan();

        assertThat(PoolSketch.emptied(plan)).extracting(StepStatus::of).containsExactly("demo-a-1");
        assertThat(plan.outstanding().waiting())
                .containsExactly("Storage set a keeps 2 nodes instead of 1 until demo-a-1 is empty.");
    }

    @Test
    void itIsNoPodThatMayBeEvictedAtOnce() {
        PoolSketch sketch = onTwo(pod("demo-a-1", "new", ENDED))
                .masters(2, 1, LAST_ONE_AWAY)
                .cordoned("n1");

        assertThat(PoolSketch.emptied(sketch.plan()))
                .extracting(StepStatus::of, StepStatus::machine)
                .containsExactly(tuple("demo-a-1", "n1"));
        assertThat(sketch.plan().transitions().evictable()).isEmpty();
    }

    private static PoolSketch onTwo(ObservedPod second) {
        return new PoolSketch(TWO_NODES).set("a", 2).node("worker", Map.of()).pod(second);
    }

    /** As its kubelet reports it. */
    private static ObservedPod pod(String name, String settings, String rest) {
        return ObservedPod.of(new KubernetesSerialization()
                .unmarshal(
                        """
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s", "uid": "uid-%s",
                  "labels": {"%s": "storage", "%s": "a"}, "annotations": {"%s": "%s"}},
                  "spec": {"nodeName": "n1", "containers": [{"name": "node", "image": "registry.example/none:1"}]},
                  "status": {"podIP": "10.0.0.7", "containerStatuses": [{"name": "node", "restartCount": 0,
                    "state": {"waiting": {"reason": "ErrImagePull", "message": "not found"}}%s}]}}
                """.formatted(name, name, PoolLabels.ROLE, PoolLabels.SET, PoolLabels.SETTINGS, settings, rest),
                        Pod.class));
    }
}
