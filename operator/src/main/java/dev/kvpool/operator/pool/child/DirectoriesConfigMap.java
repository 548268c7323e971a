// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.DirectoryList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.util.SortedMap;

/**
 * Where directories of nodes may lie that the pool has made: it outlives the sets they were made for, and the pool, so it has no
 * owner.
 */
public final class DirectoriesConfigMap {
    private DirectoriesConfigMap() {}

    /**
     * Builds it.
     *
     * @param directories paths by id of the storage node, with commas between them
     */
    public static ConfigMap of(PoolBlueprint pool, SortedMap<String, String> directories) {
        DirectoryList list = new DirectoryList(
                pool.names().pool(),
                pool.poolId(),
                pool.identity().uid(),
                pool.spec().deletionPolicy(),
                pool.pullSecrets(),
                directories);
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withName(pool.names().directories(pool.poolId()))
                .withNamespace(pool.names().namespace())
                .withLabels(PoolLabels.ofRole(pool.names().pool(), PoolLabels.ROLE_DIRECTORIES))
                .withAnnotations(list.notes())
                .endMetadata()
                .withData(directories)
                .build();
    }
}
