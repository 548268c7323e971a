// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.security.PoolTrust;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.Map;

/** What the pool's processes trust, for all that connect to them. Nothing in it is secret. */
public final class TrustConfigMap {
    private TrustConfigMap() {}

    /** Of a pool whose certificate authority is active. */
    public static ConfigMap of(PoolBlueprint pool) {
        return of(
                pool.metadata(
                        pool.names().trust(), PoolLabels.ofPool(pool.names().pool())),
                pool.security().trust().orElseThrow());
    }

    /**
     * The same in any state.
     *
     * @param metadata as all objects of the pool have it
     */
    public static ConfigMap of(ObjectMeta metadata, PoolTrust trust) {
        return new ConfigMapBuilder()
                .withMetadata(metadata)
                .editMetadata()
                .addToAnnotations(trust.notes())
                .endMetadata()
                .withData(Map.of(PoolTrust.ROOTS, trust.roots()))
                .build();
    }
}
