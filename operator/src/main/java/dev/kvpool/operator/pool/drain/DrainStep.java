// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.drain;

import dev.kvpool.api.v1alpha1.DrainStatus;
import java.util.Optional;

/**
 * What one look makes of the drain of a storage node.
 *
 * @param next what the status shall say of it; empty when nothing is left to say
 * @param action what the leader is told
 * @param mayGo whether the node may go, or its pod be evicted
 */
record DrainStep(Optional<DrainStatus> next, Optional<DrainAction> action, boolean mayGo) {
    static DrainStep to(DrainStatus next) {
        return new DrainStep(Optional.of(next), Optional.empty(), false);
    }
}
