// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.PoolBlueprint;
import dev.kvpool.operator.pool.PoolLabels;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.util.Map;

/** Configuration the masters read again when it changes. */
public final class PoolConfigMap {
    /** Key of the list of expected storage nodes: one id in each line. */
    public static final String EXPECTED_NODES = "expected-nodes";

    private PoolConfigMap() {}

    public static ConfigMap of(PoolBlueprint pool) {
        return new ConfigMapBuilder()
                .withMetadata(pool.metadata(
                        pool.names().poolConfigMap(),
                        PoolLabels.ofPool(pool.names().pool())))
                .withData(Map.of(EXPECTED_NODES, String.join("\n", pool.expectedNodes()) + "\n"))
                .build();
    }
}
