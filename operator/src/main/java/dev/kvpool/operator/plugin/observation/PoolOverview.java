// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.observation;

import dev.kvpool.operator.pool.observation.PoolObservation;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;

/**
 * How a pool is.
 *
 * @param seen without what only decisions are made from
 * @param pods in order of their names, with what the observation leaves out of them
 * @param fabric ucx or ascend, if the pool's transfer engine has it among its protocols; else empty
 */
public record PoolOverview(PoolObservation seen, List<Pod> pods, String fabric) {
    public PoolOverview {
        pods = List.copyOf(pods);
    }
}
