// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;

/** Who the masters are at the API server. */
public final class MasterServiceAccount {
    private MasterServiceAccount() {}

    public static ServiceAccount of(PoolBlueprint pool) {
        String name = pool.names().masters();
        return new ServiceAccountBuilder()
                .withMetadata(pool.metadata(name, PoolLabels.ofRole(pool.names().pool(), PoolLabels.ROLE_MASTER)))
                .withAutomountServiceAccountToken(false)
                .build();
    }
}
