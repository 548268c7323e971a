// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import dev.kvpool.operator.pool.child.PoolConfigMap;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.ArrayList;
import java.util.List;

/** All objects the operator made for a pool. */
final class Children {
    private static final List<Class<? extends HasMetadata>> KINDS = List.of(
            ServiceAccount.class,
            Role.class,
            RoleBinding.class,
            Lease.class,
            ConfigMap.class,
            Service.class,
            PodDisruptionBudget.class,
            NetworkPolicy.class,
            StatefulSet.class,
            DaemonSet.class);

    private Children() {}

    static List<HasMetadata> of(KubernetesClient client, String namespace, String pool) {
        List<HasMetadata> children = new ArrayList<>();
        for (Class<? extends HasMetadata> kind : KINDS) {
            children.addAll(client.resources(kind)
                    .inNamespace(namespace)
                    .withLabel(PoolLabels.POOL, pool)
                    .list()
                    .getItems());
        }
        return children;
    }

    /** Text of the list of storage nodes that the masters of a pool read. */
    static String expectedNodes(KubernetesClient client, String namespace, String pool) {
        return masterFile(client, namespace, pool, PoolConfigMap.EXPECTED_NODES);
    }

    /** Text of the rules of the cache that they read. */
    static String cacheRules(KubernetesClient client, String namespace, String pool) {
        return masterFile(client, namespace, pool, PoolConfigMap.CACHE_RULES);
    }

    private static String masterFile(KubernetesClient client, String namespace, String pool, String key) {
        return client.configMaps()
                .inNamespace(namespace)
                .withName(pool + "-pool")
                .get()
                .getData()
                .get(key);
    }
}
