// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.ExpectedNode;
import dev.kvpool.operator.pool.PoolBlueprint;
import dev.kvpool.operator.pool.PoolLabels;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Configuration the masters read again when it changes. */
public final class PoolConfigMap {
    /** Key of the list of expected storage nodes: {@code ID} or {@code ID ZONE} in each line. */
    public static final String EXPECTED_NODES = "expected-nodes";

    private PoolConfigMap() {}

    public static ConfigMap of(PoolBlueprint pool) {
        return new ConfigMapBuilder()
                .withMetadata(pool.metadata(
                        pool.names().poolConfigMap(),
                        PoolLabels.ofPool(pool.names().pool())))
                .withData(Map.of(EXPECTED_NODES, lines(pool.expectedNodes())))
                .build();
    }

    private static String lines(List<ExpectedNode> nodes) {
        return nodes.stream()
                .map(node ->
                        node.id() + node.domain().map(domain -> " " + domain).orElse(""))
                .collect(Collectors.joining("\n", "", "\n"));
    }
}
