// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.child.part.StorageClaims;
import dev.kvpool.operator.pool.child.part.StoragePod;
import dev.kvpool.operator.pool.child.part.TemplatedPod;
import dev.kvpool.operator.pool.child.part.WishDigest;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSetBuilder;

/** A storage set with a number of nodes. Kubernetes replaces none of its pods by itself: they may lose their memory. */
public final class StorageStatefulSet {
    private static final int REVISIONS_KEPT = 5;

    private StorageStatefulSet() {}

    /**
     * Builds the StatefulSet of one set.
     *
     * @param replicas how many nodes the set shall have now, which may be more than the spec asks for
     */
    public static StatefulSet of(PoolBlueprint pool, StorageSetSpec set, int replicas) {
        String poolName = pool.names().pool();
        TemplatedPod template = new TemplatedPod(
                set.podTemplate(),
                pool.podLabels(set),
                PoolLabels.selectRole(poolName, PoolLabels.ROLE_STORAGE),
                pool.requests().restart(PoolLabels.ROLE_STORAGE),
                pool.security().members());
        return new StatefulSetBuilder()
                .withMetadata(pool.metadata(set))
                .withNewSpec()
                .withServiceName(pool.names().storageService())
                .withReplicas(replicas)
                .withPodManagementPolicy("Parallel")
                .withRevisionHistoryLimit(REVISIONS_KEPT)
                .withNewSelector()
                .withMatchLabels(PoolLabels.selectSet(poolName, set.name()))
                .endSelector()
                .withNewUpdateStrategy()
                .withType("OnDelete")
                .endUpdateStrategy()
                .withTemplate(template.template(
                        template.spread(new StoragePod(pool, set).build("$(POD_NAME)")),
                        pool.storage().image(),
                        WishDigest.storage(pool, set)))
                .withVolumeClaimTemplates(StorageClaims.templates(pool, set))
                .withPersistentVolumeClaimRetentionPolicy(StorageClaims.retention(pool, set))
                .endSpec()
                .build();
    }
}
