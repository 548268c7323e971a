// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.Leadership;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.transition.Action;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A new pool whose masters do not come up takes another image without being asked; one that has served does not. */
class NeverLedPoolTest {
    private static final String NEXT = "kvpool:next";

    @Test
    void allPodsOfANewPoolTakeTheWantedImage() {
        PoolPlan plan = crashing().plan();

        assertThat(plan.roll().actions())
                .extracting(action -> ((Action.SetImage) action).image())
                .containsExactly(NEXT, NEXT, NEXT);
        assertThat(plan.roll().mastersImage()).isEqualTo(NEXT);
        assertThat(plan.roll().storageImage()).isEqualTo(NEXT);
    }

    @ParameterizedTest(name = "{0}, transitions {1}: taken {2}")
    @CsvSource({", , false", ", 0, false", ", 2, true", "demo-master-0_0123456789abcdef, 1, true", "'', 3, true"})
    void aLeaseThatWasTakenSaysThatThePoolHasServed(String holder, Integer transitions, boolean taken) {
        Lease lease = new LeaseBuilder()
                .withNewMetadata()
                .withName("demo-master")
                .withNamespace("ns")
                .endMetadata()
                .withNewSpec()
                .withHolderIdentity(holder)
                .withLeaseTransitions(transitions)
                .endSpec()
                .build();

        PoolSketch pool = crashing().child(lease);

        assertThat(Leadership.wasTaken(List.of(lease), pool.observation().pool()))
                .isEqualTo(taken);
        assertThat(pool.plan().roll().actions().isEmpty()).isEqualTo(taken);
    }

    private static PoolSketch crashing() {
        PoolSketch sketch =
                new PoolSketch("{image: '%s', storage: [{name: a, capacity: 1Gi}]}".formatted(NEXT)).set("a", 1);
        for (int i = 0; i < 2; i++) {
            sketch.pod(PoolSketch.notReady(PoolSketch.pod("demo-master-" + i, PoolLabels.ROLE_MASTER, "", true, "a")));
        }
        return sketch;
    }
}
