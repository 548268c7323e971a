// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepStatus;
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
        if (!status.steps().stream().allMatch(PollInterval::isCalm)) {
            return hurried;
        }
        return switch (status.phase()) {
            case STARTING, UNAVAILABLE, DEGRADED, UPGRADING -> hurried;
            case READY, WAITING, PAUSED, INVALID -> calm;
        };
    }

    /** What a user asked for, and has or cannot have, may stay so for months. */
    private static boolean isCalm(StepStatus step) {
        return switch (step.state()) {
            case WAITING -> step.machine() == null;
            case EMPTY, FAILED -> step.because() == StepCause.REQUEST;
            case UNDER_WAY, LEFTOVERS, DROPPED, KEPT -> false;
        };
    }
}
