// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A master that storage nodes do not know is no standby, and storage nodes know all that there may be. */
class BlindMastersTest {
    private static final String SPEC = "{masters: {replicas: %d}, storage: [{name: a, capacity: 1Gi, replicas: 2}]}";

    @Test
    void theNumberOfMastersIsNoSettingOfAStorageNode() {
        assertThat(storage(2)).isEqualTo(storage(7));
    }

    @Test
    void aMasterWithoutTheLeadersStorageNodesIsNamed() {
        Finding ready = ready(standby("away", "away"), 60);

        assertThat(ready.reason()).isEqualTo(Reason.SERVING_WITHOUT_STANDBY);
        assertThat(ready.message())
                .contains("demo-master-1 has no connection to demo-a-0, demo-a-1, but demo-master-0 has");
        assertThat(ready(standby("ready", "away"), 60).message()).contains("no connection to demo-a-1,");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ready", "syncing", "draining"})
    void oneThatHasThemIsAStandby(String state) {
        assertThat(ready(standby("ready", state), 60).reason()).isEqualTo(Reason.SERVING);
    }

    @Test
    void oneThatHasJustStartedHasAMinute() {
        assertThat(ready(standby("away", "away"), 59).reason()).isEqualTo(Reason.SERVING);
    }

    private static Finding ready(PoolReport standby, long runningForS) {
        PoolSketch sketch = new PoolSketch(SPEC.formatted(2)).set("a", 2);
        sketch.masters(2, 1, PoolSketch.leader(List.of(node("demo-a-0", "ready"), node("demo-a-1", "ready"))))
                .says("demo-master-1", standby)
                .pod(PoolSketch.running(
                        PoolSketch.pod("demo-master-1", PoolLabels.ROLE_MASTER, "", true, "a"),
                        Optional.of(PoolSketch.NOON.minusSeconds(runningForS))));
        PoolObservation seen = sketch.observation();
        return new PoolFindings(seen, sketch.plan(), PoolSketch.SETTINGS)
                .all(List.of(), new Outcome(List.of(), List.of())).stream()
                        .filter(finding -> finding.reason().type() == ConditionType.AVAILABLE)
                        .findFirst()
                        .orElseThrow();
    }

    private static PoolReport standby(String first, String second) {
        return PoolSketch.standby("demo-master-1", List.of(node("demo-a-0", first), node("demo-a-1", second)));
    }

    private static PoolReport.Node node(String id, String state) {
        return PoolSketch.node(id, state, "", 0, 0);
    }

    private static StatefulSet storage(int masters) {
        return new PoolSketch(SPEC.formatted(masters))
                .plan().apply().stream()
                        .filter(StatefulSet.class::isInstance)
                        .map(StatefulSet.class::cast)
                        .filter(set -> set.getMetadata().getName().equals("demo-a"))
                        .findFirst()
                        .orElseThrow();
    }
}
