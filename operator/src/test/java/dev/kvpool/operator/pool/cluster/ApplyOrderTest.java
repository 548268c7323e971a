// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.PoolSketch;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What others need is there before them. */
class ApplyOrderTest {
    @Test
    void rightsAndNamesThenWhoHasTheRightsThenPods() {
        List<HasMetadata> children = new PoolSketch("""
                {transferEngine: demo, storage: [{name: a, capacity: 1Gi, replicas: 2},
                  {name: b, capacity: 1Gi, perNode: {}, volume: {type: hostPath, path: /dev/shm/kvpool}}]}""")
                .engine("{agents: {}}")
                .node("n1", Map.of())
                .plan()
                .apply();

        List<List<HasMetadata>> waves = ApplyOrder.waves(children);

        assertThat(waves).hasSize(3);
        assertThat(kinds(waves.get(0)))
                .contains("ServiceAccount", "Role", "Lease", "ConfigMap", "Service")
                .doesNotContain("RoleBinding", "StatefulSet", "DaemonSet", "Job");
        assertThat(kinds(waves.get(1))).containsExactly("RoleBinding");
        assertThat(kinds(waves.get(2))).containsOnly("StatefulSet", "DaemonSet").contains("StatefulSet", "DaemonSet");
        assertThat(waves.stream().flatMap(List::stream)).containsExactlyInAnyOrderElementsOf(children);
    }

    @Test
    void nothingIsNoWave() {
        assertThat(ApplyOrder.waves(List.of())).isEmpty();
    }

    private static List<String> kinds(List<HasMetadata> wave) {
        return wave.stream().map(HasMetadata::getKind).toList();
    }
}
