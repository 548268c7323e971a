// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.OnCluster;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Samples;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** Deleting a pool, with the default deletion policy. */
@OnCluster
@Order(3)
class PoolDeletionIT {

    private static final String NAMESPACE = "kvpool-e2e-deletion";

    /** Traces of what happened, kept for a while by the API server itself. */
    private static final Set<String> NOT_COUNTED = Set.of("events", "events.events.k8s.io");

    private final Cluster cluster;

    PoolDeletionIT(Cluster cluster) {
        this.cluster = cluster;
    }

    @AfterEach
    void removeNamespace() {
        cluster.deleteNamespace(NAMESPACE);
    }

    @Test
    @DisplayName("nothing of a deleted pool remains: no pod, Lease, role, Service, ConfigMap or anything else")
    void nothingRemains(Operator operator) {
        cluster.createNamespace(NAMESPACE, "restricted");
        Set<String> before = inventory();
        Pool pool = new Samples(cluster).applyDemo(NAMESPACE);
        pool.awaitReady();
        assertThat(inventory()).contains("lease.coordination.k8s.io/" + pool.name() + "-master");

        new Samples(cluster).deleteDemo(NAMESPACE);

        Wait.until(
                "nothing of the pool remains",
                Limits.GONE,
                () -> assertThat(inventory()).isEqualTo(before));
    }

    /** Every object of the namespace, of all kinds that can be listed, as KIND/NAME. */
    private Set<String> inventory() {
        String kinds = cluster.kubectl()
                .run("api-resources", "--namespaced", "--verbs=list", "--output=name")
                .lines()
                .filter(kind -> !NOT_COUNTED.contains(kind))
                .collect(Collectors.joining(","));
        return cluster.kubectl()
                .run("get", kinds, "--namespace", NAMESPACE, "--output=name", "--ignore-not-found")
                .lines()
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
