// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.security.AccountRoles;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Who the processes of a secure pool are to its masters: storage nodes, agents, the check of an upgrade, and people, who take tokens of POOL-admin.
 * None of them may do anything at the API server.
 */
public final class MemberServiceAccounts {
    private MemberServiceAccounts() {}

    /** None while the pool is not secure. */
    public static List<ServiceAccount> of(PoolBlueprint pool) {
        if (!pool.security().isOn()) {
            return List.of();
        }
        String name = pool.names().pool();
        List<ServiceAccount> accounts = new ArrayList<>();
        accounts.add(account(pool, pool.names().admins(), PoolLabels.ofPool(name)));
        accounts.add(account(pool, pool.names().preflight(), PoolLabels.ofRole(name, PoolLabels.ROLE_PREFLIGHT)));
        if (pool.engine().agents() != null) {
            add(
                    pool,
                    pool.names().agents(),
                    AccountRoles.ofAgents(pool.names(), pool.engine()),
                    PoolLabels.ROLE_AGENT,
                    accounts);
        }
        Set<String> made = new TreeSet<>();
        for (StorageSetSpec set : pool.spec().storage()) {
            String own = set.perNode() == null
                    ? pool.names().storage()
                    : pool.names().storageOf(set.name());
            if (made.add(own)) {
                add(pool, own, AccountRoles.ofSet(pool.names(), set), PoolLabels.ROLE_STORAGE, accounts);
            }
        }
        return accounts;
    }

    /** One that a podTemplate names is its user's. */
    private static void add(PoolBlueprint pool, String own, String used, String role, List<ServiceAccount> accounts) {
        if (own.equals(used)) {
            accounts.add(account(pool, own, PoolLabels.ofRole(pool.names().pool(), role)));
        }
    }

    private static ServiceAccount account(PoolBlueprint pool, String name, Map<String, String> labels) {
        return new ServiceAccountBuilder()
                .withMetadata(pool.metadata(name, labels))
                .withAutomountServiceAccountToken(false)
                .build();
    }
}
