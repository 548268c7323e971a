// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.random;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.DataLossPolicy;
import dev.kvpool.api.v1alpha1.storage.LeftoverPolicy;
import dev.kvpool.operator.pool.random.RandomCluster.Pod;
import java.util.LinkedHashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fewer masters: one after the other goes, and none that leads. */
class MastersScaleDownTest {
    private static final int ENOUGH = 60;

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7})
    void oneByOneAndTheLeaderHandsOverBefore(long seed) {
        RandomPool pool = pool(seed);
        pool.masters = 1;

        Set<Long> counts = new LinkedHashSet<>();
        for (int i = 0; i < ENOUGH; i++) {
            counts.add(masters(pool));
            // A look before its step was written would be a stop without one, which the rules find.
            pool.round();
        }

        assertThat(counts).containsExactly(3L, 2L, 1L);
        assertThat(pool.unlike()).isEmpty();
        assertThat(leads(pool, "demo-master-0")).isTrue();
    }

    @Test
    void noneGoesWhileOneThatStaysIsNotReady() {
        RandomPool pool = pool(0);
        pool.masters = 2;
        pool.cluster.lose(pool.cluster.hosts.get(pod(pool, "demo-master-1").host));
        assertThat(pod(pool, "demo-master-2").ready).as("on another machine").isTrue();
        rounds(pool, ENOUGH);

        assertThat(masters(pool)).isEqualTo(3);
        assertThat(pool.status().steps())
                .extracting(StepStatus::waitsFor)
                .first()
                .asString()
                .contains("demo-master-1 is not ready");
    }

    @Test
    void oneThatDoesNotRunGoesAtOnce() {
        RandomPool pool = pool(0);
        pool.masters = 2;
        pool.cluster.bad.add("broken");
        Pod broken = pod(pool, "demo-master-2");
        broken.running = "broken";
        broken.ready = false;
        rounds(pool, 6);

        assertThat(masters(pool)).isEqualTo(2);
    }

    @Test
    void whatIsTakenBackEnds() {
        RandomPool pool = pool(0);
        pool.masters = 1;
        rounds(pool, 1);
        assertThat(pool.status().steps()).extracting(StepStatus::kind).contains(StepKind.REMOVE);

        pool.masters = 3;
        rounds(pool, ENOUGH);

        assertThat(masters(pool)).isEqualTo(3);
        assertThat(pool.status().steps()).isEmpty();
    }

    private static RandomPool pool(long seed) {
        RandomPool pool = new RandomPool(new Random(seed), 5);
        pool.masters = 3;
        pool.replicas.put("a", 2);
        pool.maxUnavailable = 1;
        pool.onDataLoss = DataLossPolicy.WAIT;
        pool.onLeftovers = LeftoverPolicy.WAIT;
        rounds(pool, 20);
        assertThat(pool.unlike()).isEmpty();
        return pool;
    }

    private static void rounds(RandomPool pool, int count) {
        for (int i = 0; i < count; i++) {
            pool.round();
        }
    }

    private static boolean leads(RandomPool pool, String name) {
        return pool.data.leads(pod(pool, name));
    }

    private static Pod pod(RandomPool pool, String name) {
        return pool.cluster.pods().stream()
                .filter(pod -> pod.name.equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static long masters(RandomPool pool) {
        return pool.cluster.pods().stream()
                .filter(pod -> pod.master() && !pod.leaving)
                .count();
    }
}
