// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;

/** Gives the masters their role. */
public final class MasterRoleBinding {
    private MasterRoleBinding() {}

    public static RoleBinding of(PoolBlueprint pool) {
        String name = pool.names().masters();
        return new RoleBindingBuilder()
                .withMetadata(pool.metadata(name, PoolLabels.ofRole(pool.names().pool(), PoolLabels.ROLE_MASTER)))
                .withNewRoleRef()
                .withApiGroup("rbac.authorization.k8s.io")
                .withKind("Role")
                .withName(name)
                .endRoleRef()
                .addNewSubject()
                .withKind("ServiceAccount")
                .withName(name)
                .withNamespace(pool.names().namespace())
                .endSubject()
                .build();
    }
}
