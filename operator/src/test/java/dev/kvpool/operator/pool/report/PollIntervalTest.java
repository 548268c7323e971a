// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.pool.PoolSketch;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pools that are ready and have one step. */
class PollIntervalTest {
    @ParameterizedTest
    @CsvSource({
        "EMPTY, CORDON, UNDER_WAY, true",
        "EMPTY, CORDON, EMPTY, true",
        "EMPTY, REQUEST, UNDER_WAY, true",
        "EMPTY, REQUEST, LEFTOVERS, true",
        "TAKE_BACK, REQUEST, UNDER_WAY, true",
        "EMPTY, REQUEST, EMPTY, false",
        "HAND_OVER, REQUEST, FAILED, false",
        "RESTART, UPGRADE, FAILED, true",
        "RESTART, UPGRADE, WAITING, false",
    })
    void oneThatWaitsForAUserIsCalm(StepKind kind, StepCause because, StepState state, boolean hurried) {
        StepStatus step = new StepStatus("s-0", kind, because, state, PoolSketch.NOON.toString());
        KvCachePoolStatus status = new KvCachePoolStatus(
                null,
                PoolPhase.READY,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                List.of(step),
                null,
                null,
                null,
                null,
                null,
                null);

        assertThat(PollInterval.DEFAULT.of(status)).isEqualTo(Duration.ofSeconds(hurried ? 2 : 10));
    }
}
