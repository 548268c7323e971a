// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.scale;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/** Counts the pools of some namespaces by what their status says, and tells which objects changed. */
public final class PoolCensus implements AutoCloseable {
    /** Kinds that only the operator writes, and pods. Leases are not among them: masters renew them. */
    private static final List<Class<? extends HasMetadata>> KINDS = List.of(
            ServiceAccount.class,
            Role.class,
            RoleBinding.class,
            ConfigMap.class,
            Service.class,
            PodDisruptionBudget.class,
            NetworkPolicy.class,
            StatefulSet.class,
            Pod.class);

    private final KubernetesClient client;
    private final Set<String> namespaces;
    private final SharedIndexInformer<KvCachePool> pools;

    public PoolCensus(KubernetesClient client, List<String> namespaces) {
        this.client = client;
        this.namespaces = Set.copyOf(namespaces);
        pools = client.resources(KvCachePool.class).inAnyNamespace().inform();
    }

    /** How many pools are ready. */
    public long ready() {
        return pools.getStore().list().stream()
                .filter(this::isMine)
                .filter(pool -> pool.getStatus() != null && pool.getStatus().phase() == PoolPhase.READY)
                .count();
    }

    /** Bytes of the largest status, as the API server sends it. */
    public int largestStatus() {
        return pools.getStore().list().stream()
                .filter(this::isMine)
                .map(KvCachePool::getStatus)
                .filter(Objects::nonNull)
                .mapToInt(status ->
                        client.getKubernetesSerialization().asJson(status).length())
                .max()
                .orElse(0);
    }

    /** Identity and version of every object that the operator could have changed, by kind and name. */
    public Map<String, String> versions() {
        Map<String, String> versions = new TreeMap<>();
        pools.getStore().list().stream().filter(this::isMine).forEach(pool -> add(versions, pool));
        for (Class<? extends HasMetadata> kind : KINDS) {
            client
                    .resources(kind)
                    .inAnyNamespace()
                    .withLabel(PoolLabels.MANAGED_BY, PoolLabels.OPERATOR)
                    .list()
                    .getItems()
                    .stream()
                    .filter(this::isMine)
                    .forEach(object -> add(versions, object));
        }
        return versions;
    }

    /** The objects that are in one of two such tables only, or in another version. */
    public static Set<String> changed(Map<String, String> before, Map<String, String> after) {
        Set<String> names = new HashSet<>(before.keySet());
        names.addAll(after.keySet());
        names.removeIf(name -> Objects.equals(before.get(name), after.get(name)));
        return names;
    }

    private boolean isMine(HasMetadata object) {
        return namespaces.contains(object.getMetadata().getNamespace());
    }

    private static void add(Map<String, String> versions, HasMetadata object) {
        versions.put(
                "%s %s/%s"
                        .formatted(
                                object.getKind(),
                                object.getMetadata().getNamespace(),
                                object.getMetadata().getName()),
                object.getMetadata().getUid() + " " + object.getMetadata().getResourceVersion());
    }

    @Override
    public void close() {
        pools.stop();
    }
}
