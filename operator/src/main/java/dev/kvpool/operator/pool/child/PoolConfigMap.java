// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.blueprint.ExpectedNode;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.child.part.CacheRules;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.security.AccountRoles;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Configuration the masters read again when it changes. */
public final class PoolConfigMap {
    /** Key of the list of expected storage nodes: {@code ID} or {@code ID ZONE} in each line. */
    public static final String EXPECTED_NODES = "expected-nodes";

    /** Key of the rules of the cache; masters look for a file of this name beside that of the nodes. */
    public static final String CACHE_RULES = "cache-rules";

    /** Key of the rules by which masters of a secure pool give out certificates, or take tokens in place of them. */
    static final String ENROLMENT = "enrolment";

    private PoolConfigMap() {}

    public static ConfigMap of(PoolBlueprint pool) {
        return new ConfigMapBuilder()
                .withMetadata(pool.metadata(
                        pool.names().poolConfigMap(),
                        PoolLabels.ofPool(pool.names().pool())))
                .withData(data(pool))
                .build();
    }

    private static Map<String, String> data(PoolBlueprint pool) {
        CacheRules rules = CacheRules.of(pool.spec());
        Map<String, String> data = new LinkedHashMap<>(rules.values());
        data.put(EXPECTED_NODES, lines(pool.storage().expected()));
        data.put(CACHE_RULES, rules.text());
        if (pool.security().isOn()) {
            data.put(
                    ENROLMENT,
                    (pool.security().directory().isPresent()
                                    ? AccountRoles.ofAskers(
                                            pool.names(), pool.security().operator())
                                    : AccountRoles.of(
                                            pool.names(),
                                            pool.spec(),
                                            pool.engine(),
                                            pool.security().operator(),
                                            pool.security().present()))
                            .text());
        }
        return data;
    }

    /**
     * Environment with the rules of the cache as they are when a container starts: for masters that cannot read the file, because
     * they are of an earlier version or it is not good. It names keys and no values, so a change of one changes no pod.
     */
    static List<EnvVar> environment(PoolBlueprint pool) {
        return CacheRules.of(pool.spec()).values().keySet().stream()
                .map(name -> new EnvVarBuilder()
                        .withName("KVPOOL_" + name.toUpperCase(Locale.ROOT).replace('-', '_'))
                        .withNewValueFrom()
                        .withNewConfigMapKeyRef(name, pool.names().poolConfigMap(), true)
                        .endValueFrom()
                        .build())
                .toList();
    }

    private static String lines(List<ExpectedNode> nodes) {
        return nodes.stream()
                .map(node ->
                        node.id() + node.domain().map(domain -> " " + domain).orElse(""))
                .collect(Collectors.joining("\n", "", "\n"));
    }
}
