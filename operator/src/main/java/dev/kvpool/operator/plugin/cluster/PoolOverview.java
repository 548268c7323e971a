// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.cluster;

import dev.kvpool.operator.pool.observation.PoolObservation;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;

/**
 * How a pool is.
 *
 * @param seen without what only decisions are made from
 * @param pods in order of their names, with what the observation leaves out of them
 * @param wantsUcx whether the pool's transfer engine has ucx among its protocols
 */
public record PoolOverview(PoolObservation seen, List<Pod> pods, boolean wantsUcx) {
    public PoolOverview {
        pods = List.copyOf(pods);
    }
}
