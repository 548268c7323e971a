// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.OnCluster;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Clients;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Samples;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** `helm uninstall` must not cost anyone a cache. */
@OnCluster
@Order(5)
class UninstallIT {

    private static final String NAMESPACE = "kvpool-e2e-uninstall";

    private final Cluster cluster;

    UninstallIT(Cluster cluster) {
        this.cluster = cluster;
    }

    @AfterEach
    void removeNamespace() {
        cluster.deleteNamespace(NAMESPACE);
    }

    @Test
    @DisplayName("Helm uninstalls the operator: pools stay and serve; installed again, it takes them over as they are")
    void poolsOutliveTheOperator(Operator operator) {
        cluster.createNamespace(NAMESPACE, "restricted");
        Pool pool = new Samples(cluster).applyDemo(NAMESPACE);
        var clients = new Clients(cluster, pool);
        pool.awaitReady();
        assertThat(clients.put("kept", 10)).contains("put 10 of 10 objects");
        List<String> pods = uids(pool);

        operator.uninstall();
        try {
            assertThat(cluster.kubectl().run("get", "crd", "--output=name")).contains("kvcachepools.kvpool.dev");
            assertThat(pool.resource().getMetadata().getDeletionTimestamp()).isNull();
            assertThat(clients.get("kept", 10)).contains("read back 10 of 10 objects");
        } finally {
            operator.install();
        }

        pool.awaitReconciledAgain();
        assertThat(uids(pool)).as("pods of the pool").isEqualTo(pods);
    }

    private static List<String> uids(Pool pool) {
        return pool.pods().stream().map((Pod pod) -> pod.getMetadata().getUid()).toList();
    }
}
