// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePool;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.monitoring.micrometer.MicrometerMetricsV2;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CountersFromZeroTest {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @Test
    void failuresAreCountedInTheSeriesThatBeganWithZero() {
        new CountersFromZero(registry).registered("kvcachepool");
        assertThat(failures()).isZero();

        KvCachePool pool = new KvCachePool();
        pool.setMetadata(
                new ObjectMetaBuilder().withName("demo").withNamespace("team").build());
        MicrometerMetricsV2.newBuilder(registry)
                .build()
                .reconciliationFailed(
                        pool, null, new IllegalStateException("refused"), Map.of("controller.name", "kvcachepool"));

        assertThat(failures()).isEqualTo(1);
    }

    private double failures() {
        assertThat(registry.find("reconciliations.failure.total").counters()).hasSize(1);
        return registry.find("reconciliations.failure.total").counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }
}
