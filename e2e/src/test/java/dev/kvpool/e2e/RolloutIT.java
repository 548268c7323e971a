// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.OnCluster;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import io.fabric8.kubernetes.api.model.Pod;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** `helm upgrade` to the next version of the chart, which makes other pods of the same specs: it concerns every pool of a cluster, a few at a time. */
@OnCluster
@Order(0)
@Tag("long")
@Isolated("what the operator is installed with concerns the pools of every other scenario")
@TestInstance(Lifecycle.PER_CLASS)
class RolloutIT {
    private static final Logger LOG = LoggerFactory.getLogger(RolloutIT.class);
    private static final String NAMESPACE = "kvpool-e2e-rollout";
    private static final int POOLS = 10;
    private static final int AT_A_TIME = 5;
    private static final int WITH_STORAGE = 2;
    private static final String STORAGE = "{name: a, replicas: 2, capacity: 64Mi}";
    private static final String NEXT = "0.2.0";

    private Cluster cluster;
    private Operator operator;

    @BeforeAll
    void makePools(Cluster cluster, Operator operator) {
        this.cluster = cluster;
        this.operator = operator;
        cluster.createNamespace(NAMESPACE, "restricted");
        // Pods read their secrets by the group that such a platform gives them; this cluster gives none.
        cluster.kubectl()
                .apply(
                        NAMESPACE,
                        IntStream.range(0, POOLS)
                                .mapToObj(pool -> """
                                apiVersion: kvpool.dev/v1alpha1
                                kind: KvCachePool
                                metadata: {name: pool-%d}
                                spec:
                                  masters: {replicas: 1, podTemplate: {securityContext: {fsGroup: 65532}}}
                                  storage: [%s]
                                """.formatted(pool, pool < WITH_STORAGE ? STORAGE : ""))
                                .collect(Collectors.joining("---\n")));
        Wait.until(
                "ten pools are Ready",
                Limits.POOL_READY,
                () -> assertThat(pools().values())
                        .hasSize(POOLS)
                        .allMatch(pool ->
                                pool.getStatus() != null && pool.getStatus().phase() == PoolPhase.READY));
    }

    @AfterAll
    void theOperatorAsEver() {
        cluster.deleteNamespace(NAMESPACE);
        operator.install();
    }

    @Test
    @DisplayName("of ten pools five at a time get the pods that the new operator makes, the others say that they wait")
    void poolsHaveTheirTurn(@TempDir Path folder) {
        Map<String, String> masters = pods("master");
        Map<String, String> storage = pods("storage");
        List<Integer> replacedAtOnce = new ArrayList<>();
        List<Long> waiting = new ArrayList<>();

        // As on a platform that gives pods their user: none of the users' specs asks for it.
        // The operator itself is this build's; the pools' image is that of the next version.
        operator.install(
                operator.helm().later(NEXT, folder),
                "image.tag=0.1.0",
                "platformUser=true",
                "rollout.pools=" + AT_A_TIME);
        Wait.until("every pool has the pods of the new operator", Limits.ROLLOUT, () -> {
            Map<String, KvCachePool> seen = pools();
            replacedAtOnce.add((int) seen.values().stream()
                    .filter(pool -> !pool.getStatus().steps().isEmpty())
                    .count());
            waiting.add(seen.values().stream()
                    .filter(pool -> pool.getStatus().conditions().stream()
                            .anyMatch(condition -> condition.reason().equals("OfEarlierOperator")
                                    && condition.message().contains(AT_A_TIME + " pools at a time")))
                    .count());
            assertThat(pods("master").values()).hasSize(POOLS).doesNotContainAnyElementsOf(masters.values());
            assertThat(seen.values())
                    .allMatch(pool -> pool.getStatus().phase() == PoolPhase.READY
                            && pool.getStatus().steps().isEmpty());
        });

        LOG.info("pools with steps under way, each half second: {}; that said they wait: {}", replacedAtOnce, waiting);
        assertThat(replacedAtOnce)
                .as("pools at a time")
                .allMatch(pools -> pools <= AT_A_TIME)
                .contains(AT_A_TIME);
        assertThat(waiting).as("pools that said they wait").anyMatch(pools -> pools == POOLS - AT_A_TIME);
        assertThat(pods("storage"))
                .as("storage nodes wait for a user")
                .hasSize(2 * WITH_STORAGE)
                .isEqualTo(storage);
        assertThat(pools().values())
                .as("images change when a user asks for it")
                .allSatisfy(pool -> assertThat(pool.getStatus().conditions())
                        .anyMatch(condition -> condition.message().contains("set spec.version to upgrade to it")
                                && condition.message().contains("kvpool:" + NEXT)));
        assertThat(list("master"))
                .as("users that pods name")
                .allMatch(pod -> pod.getSpec().getSecurityContext().getRunAsUser() == null);
    }

    private Map<String, KvCachePool> pools() {
        return cluster.client().resources(KvCachePool.class).inNamespace(NAMESPACE).list().getItems().stream()
                .collect(Collectors.toMap(pool -> pool.getMetadata().getName(), Function.identity()));
    }

    /** UIDs by name of the pods that have this role. */
    private Map<String, String> pods(String role) {
        return list(role).stream()
                .collect(Collectors.toMap(
                        RolloutIT::name, pod -> pod.getMetadata().getUid()));
    }

    private List<Pod> list(String role) {
        return cluster.client()
                .pods()
                .inNamespace(NAMESPACE)
                .withLabel("kvpool.dev/role", role)
                .list()
                .getItems();
    }

    private static String name(Pod pod) {
        return pod.getMetadata().getName();
    }
}
