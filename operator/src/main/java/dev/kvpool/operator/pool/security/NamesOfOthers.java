// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.security;

import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.security.CertificatesSpec;
import dev.kvpool.api.v1alpha1.security.ServiceAccountName;
import dev.kvpool.operator.pool.naming.PoolNames;
import java.util.List;
import java.util.Optional;

/** The file by which a pool's processes know certificates of others, which name ServiceAccounts. */
public final class NamesOfOthers {
    /** Its name: key of the ConfigMap, and file in directories. */
    public static final String FILE = "names";

    private NamesOfOthers() {}

    /**
     * Its text; empty where certificates have names of the pool alone.
     *
     * @param present accounts of storage pods that are there
     */
    public static Optional<String> of(
            PoolNames names,
            KvCachePoolSpec spec,
            String poolId,
            ServiceAccountName operator,
            List<StorageAccount> present) {
        return head(spec, poolId)
                .map(head -> head
                        + AccountRoles.ofForeign(names, spec, operator, present).text());
    }

    /** The same of masters alone, for who speaks with these. */
    public static Optional<String> ofMasters(PoolNames names, KvCachePoolSpec spec, String poolId) {
        return head(spec, poolId).map(head -> head + "%s/%s master\n".formatted(names.namespace(), names.masters()));
    }

    private static Optional<String> head(KvCachePoolSpec spec, String poolId) {
        return spec.security()
                .directory()
                .map(CertificatesSpec::trustDomain)
                .map(domain -> "pool %s\ntrust-domain %s\n".formatted(poolId, domain));
    }
}
