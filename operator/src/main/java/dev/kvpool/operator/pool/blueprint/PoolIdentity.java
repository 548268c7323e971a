// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.blueprint;

import dev.kvpool.api.v1alpha1.ApiGroup;
import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.storage.DeletionPolicy;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import java.util.List;
import java.util.Map;

/**
 * What says of an object which pool it is of.
 *
 * @param names names of the children
 * @param uid UID of the custom resource, which owns the children
 * @param poolId identity of the pool on the wire and in segment files
 * @param deletion whether the children go with the custom resource
 */
public record PoolIdentity(PoolNames names, String uid, String poolId, DeletionPolicy deletion) {
    /** Metadata of a child. Under Retain it has no owner, so that garbage collection leaves it alone. */
    public ObjectMeta metadata(String name, Map<String, String> labels) {
        return new ObjectMetaBuilder()
                .withName(name)
                .withNamespace(names.namespace())
                .withLabels(labels)
                .withAnnotations(Map.of(PoolLabels.POOL_ID, poolId))
                .withOwnerReferences(deletion == DeletionPolicy.DELETE ? List.of(owner()) : List.of())
                .build();
    }

    private OwnerReference owner() {
        return new OwnerReferenceBuilder()
                .withApiVersion(ApiGroup.API_VERSION)
                .withKind(KvCachePool.KIND)
                .withName(names.pool())
                .withUid(uid)
                .withController(true)
                .build();
    }
}
