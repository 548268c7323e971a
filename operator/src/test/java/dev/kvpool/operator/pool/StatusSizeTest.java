// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.RollMode;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.report.PoolStatus;
import dev.kvpool.operator.pool.validate.PoolValidator;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A status stays small however large a pool is and however much of it is broken. */
class StatusSizeTest {
    private static final int BYTES_MAX = 64 << 10;
    private static final int SETS = 4;
    private static final int NODES_OF_SET = 250;
    private static final String LONG = "a reason that a master or a kubelet gives at length ".repeat(200);

    @Test
    void aThousandReadyNodes() {
        KvCachePoolStatus status = next(pool("ready", ""), KvCachePoolStatus.EMPTY);

        assertThat(status.storage().summary()).isEqualTo("1000/1000");
        assertThat(bytes(status)).isBetween(1, BYTES_MAX);
    }

    @Test
    void aThousandNodesThatAreAwayForLongReasons() {
        KvCachePoolStatus status = next(pool("away", LONG), KvCachePoolStatus.EMPTY);

        assertThat(status.storage().summary()).isEqualTo("0/1000");
        assertThat(status.message()).contains("0 of 1000 storage nodes are ready");
        assertThat(bytes(status)).isBetween(1, BYTES_MAX);
    }

    @Test
    void allThatCanBeUnderWayWithLongReasons() {
        RollStatus roll = new RollStatus(
                "registry.example/kvpool:0.2.0",
                PoolSketch.IMAGE,
                RollPhase.FAILED,
                RollMode.WARM,
                "2026-01-01T11:00:00Z",
                LONG,
                PoolSketch.IMAGE);

        KvCachePoolStatus status = next(pool("away", LONG, NODES_OF_SET - 50), PoolSketch.statusWith(roll));

        assertThat(status.steps()).hasSize(StepStatus.STEPS_MAX);
        assertThat(bytes(status)).isBetween(1, BYTES_MAX);
    }

    private static PoolSketch pool(String state, String reason) {
        return pool(state, reason, NODES_OF_SET);
    }

    /** One whose spec wants fewer nodes than there are. */
    private static PoolSketch pool(String state, String reason, int wanted) {
        StringBuilder sets = new StringBuilder();
        List<PoolReport.Node> nodes = new ArrayList<>();
        for (int set = 0; set < SETS; set++) {
            sets.append("{name: s%d, capacity: 1Gi, replicas: %d},".formatted(set, wanted));
            for (int node = 0; node < NODES_OF_SET; node++) {
                nodes.add(PoolSketch.node("demo-s%d-%d".formatted(set, node), state, reason, 1 << 20, 10));
            }
        }
        PoolSketch sketch = new PoolSketch("{storage: [" + sets + "]}").masters(2, 1, PoolSketch.leader(nodes));
        for (int set = 0; set < SETS; set++) {
            sketch.set("s" + set, NODES_OF_SET);
        }
        return sketch;
    }

    private static KvCachePoolStatus next(PoolSketch sketch, KvCachePoolStatus before) {
        sketch.status(before);
        PoolObservation seen = sketch.observation();
        Outcome outcome = new Outcome(List.of(), List.of());
        return new PoolStatus(PoolSketch.SETTINGS)
                .next(seen, PoolValidator.validate(seen, PoolSketch.SETTINGS), sketch.plan(), outcome);
    }

    private static int bytes(KvCachePoolStatus status) {
        return new KubernetesSerialization().asJson(status).getBytes(StandardCharsets.UTF_8).length;
    }
}
