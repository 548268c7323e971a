// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;

/**
 * The Lease that says which master leads. The operator makes it and owns it, so that it goes with the pool and not
 * before; its content belongs to the masters and is never written here.
 */
public final class LeadershipLease {
    private LeadershipLease() {}

    public static Lease of(PoolBlueprint pool) {
        return new LeaseBuilder()
                .withMetadata(pool.metadata(
                        pool.names().lease(), PoolLabels.ofRole(pool.names().pool(), PoolLabels.ROLE_MASTER)))
                .build();
    }
}
