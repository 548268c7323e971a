// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;

/**
 * What the masters may do: read and change their own leadership Lease, nothing else. A right to create cannot be
 * limited to one name, so the operator creates the Lease.
 */
public final class MasterRole {
    private MasterRole() {}

    public static Role of(PoolBlueprint pool) {
        String name = pool.names().masters();
        return new RoleBuilder()
                .withMetadata(pool.metadata(name, PoolLabels.ofRole(pool.names().pool(), PoolLabels.ROLE_MASTER)))
                .addNewRule()
                .withApiGroups("coordination.k8s.io")
                .withResources("leases")
                .withResourceNames(pool.names().lease())
                .withVerbs("get", "update")
                .endRule()
                .build();
    }
}
