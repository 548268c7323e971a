// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.drain;

import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.operator.status.Finding;
import java.util.List;
import java.util.Set;

/**
 * What is done now about storage nodes that are to go, or whose nodes of the cluster are cordoned.
 *
 * @param next what the status shall say of them; what follows from a change waits until it is written
 * @param actions what the leader is told at once
 * @param released ids of nodes that may go now
 * @param evictable ids of nodes whose pods may be evicted now
 * @param finding what condition Draining says
 */
public record DrainPlan(
        List<DrainStatus> next,
        List<DrainAction> actions,
        Set<String> released,
        Set<String> evictable,
        Finding finding) {
    public DrainPlan {
        next = List.copyOf(next);
        actions = List.copyOf(actions);
        released = Set.copyOf(released);
        evictable = Set.copyOf(evictable);
    }
}
