// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RestartPolicyTest {
    private static final Duration YOUNG = Duration.ofSeconds(1);
    private static final Duration OLD = Duration.ofMinutes(10);

    private final RestartPolicy policy = new RestartPolicy();

    @Test
    void theFirstRestartIsSoon() {
        policy.died(OLD);

        assertThat(policy.delay()).isEqualTo(Duration.ofMillis(100));
        assertThat(policy.givesUp()).isFalse();
    }

    @Test
    void whatDiesYoungWaitsLongerEachTimeUpToABound() {
        Duration last = Duration.ZERO;
        for (int death = 1; death <= RestartPolicy.QUICK_DEATHS_MAX; death++) {
            policy.died(YOUNG);
            assertThat(policy.delay()).isGreaterThanOrEqualTo(last).isLessThanOrEqualTo(Duration.ofSeconds(5));
            assertThat(policy.givesUp()).isFalse();
            last = policy.delay();
        }
        assertThat(last).isEqualTo(Duration.ofSeconds(5));

        policy.died(YOUNG);
        assertThat(policy.givesUp()).isTrue();
    }

    @Test
    void aLongLifeStartsTheCountAgain() {
        for (int death = 0; death < RestartPolicy.QUICK_DEATHS_MAX; death++) {
            policy.died(YOUNG);
        }
        policy.died(OLD);

        assertThat(policy.delay()).isEqualTo(Duration.ofMillis(100));
    }
}
