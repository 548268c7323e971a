// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.PoolBlueprint;
import dev.kvpool.operator.pool.PoolLabels;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.util.Map;

/** Where directories of nodes may lie that the pool has made: it outlives the sets they were made for. */
public final class DirectoriesConfigMap {
    private DirectoriesConfigMap() {}

    /**
     * Builds it.
     *
     * @param directories path by id of the storage node
     */
    public static ConfigMap of(PoolBlueprint pool, Map<String, String> directories) {
        return new ConfigMapBuilder()
                .withMetadata(pool.metadata(
                        pool.names().directories(),
                        PoolLabels.ofPool(pool.names().pool())))
                .withData(directories)
                .build();
    }
}
