// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.Leadership;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.util.Optional;

/**
 * What is done about a pool's leader.
 *
 * @param pod the pod that shall carry the leader label, alone; empty to take the label from all
 * @param dead a leader whose process has ended, of which the other masters are told
 */
public record LeaderPlan(Optional<String> pod, Optional<DeadLeader> dead) {
    static LeaderPlan of(PoolObservation seen) {
        return new LeaderPlan(
                seen.leadership()
                        .map(Leadership::pod)
                        .filter(pod -> seen.pods(PoolLabels.ROLE_MASTER).stream()
                                .anyMatch(master -> master.name().equals(pod))),
                DeadLeader.of(seen));
    }
}
