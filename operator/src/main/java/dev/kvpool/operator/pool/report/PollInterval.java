// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.StepState;
import java.time.Duration;

/**
 * How often a pool's data plane is asked. Kubernetes objects are watched, not polled.
 *
 * @param calm for a pool that is as it shall be
 * @param hurried for a pool that people wait for
 */
public record PollInterval(Duration calm, Duration hurried) {
    public static final PollInterval DEFAULT = new PollInterval(Duration.ofSeconds(10), Duration.ofSeconds(2));

    public Duration of(KvCachePoolStatus status) {
        if (status.steps().stream().anyMatch(step -> step.state() != StepState.WAITING || step.machine() != null)) {
            return hurried;
        }
        return switch (status.phase()) {
            case STARTING, UNAVAILABLE, DEGRADED, UPGRADING -> hurried;
            case READY, WAITING, PAUSED, INVALID -> calm;
        };
    }
}
