// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.OnCluster;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Clients;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Restarts;
import dev.kvpool.e2e.pool.Samples;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** A pool with a storage node on every labelled node of the cluster. */
@OnCluster
@Order(4)
@TestInstance(Lifecycle.PER_CLASS)
class PerNodeIT {

    private static final String NAMESPACE = "kvpool-e2e-per-node";
    private static final String LABEL = "kvpool.dev/storage";
    private static final int OBJECTS = 50;

    private Cluster cluster;
    private Pool pool;

    @BeforeAll
    void createNamespace(Cluster cluster, Operator operator) {
        this.cluster = cluster;
        cluster.createNamespace(NAMESPACE, "restricted");
        pool = new Pool(cluster, NAMESPACE, "per-node");
    }

    @AfterAll
    void removeNamespace() {
        if (cluster != null) {
            cluster.nodeNames().forEach(this::unlabel);
            cluster.deleteNamespace(NAMESPACE);
        }
    }

    @Test
    @DisplayName(
            "labelled nodes get a storage node each; one that loses its label keeps it until its objects have another place")
    void storageFollowsNodes() {
        cluster.kubectl()
                .run(
                        "apply",
                        "--namespace",
                        NAMESPACE,
                        "-f",
                        new Samples(cluster).file("per-node").toString());
        pool.awaitReason("NoNodeSelected");

        List<String> nodes = cluster.nodeNames();
        nodes.forEach(node -> cluster.kubectl().run("label", "node", node, LABEL + "=yes"));
        pool.awaitReady();
        assertThat(pool.storagePods())
                .extracting(pod -> pod.getSpec().getNodeName())
                .containsExactlyInAnyOrderElementsOf(nodes);
        assertThat(pool.resource().getStatus().storage().desired()).isEqualTo(nodes.size());

        Clients clients = new Clients(cluster, pool);
        clients.put("per-node", OBJECTS);
        Map<String, Integer> before = new Restarts(cluster).byUid(pool.storagePods());
        unlabel(nodes.getFirst());
        pool.awaitReason("WaitsForDrain");
        assertThat(pool.resource().getStatus().phase()).isEqualTo(PoolPhase.WAITING);
        assertThat(pool.resource().getStatus().message()).contains("keeps its storage on " + nodes.getFirst());
        assertThat(clients.get("per-node", OBJECTS)).contains("read back %d of %d objects".formatted(OBJECTS, OBJECTS));
        assertThat(new Restarts(cluster).byUid(pool.storagePods()))
                .as("storage pods, with restarts")
                .isEqualTo(before);

        cluster.kubectl().run("label", "node", nodes.getFirst(), LABEL + "=yes");
        pool.awaitReady();
    }

    private void unlabel(String node) {
        cluster.kubectl().run("label", "node", node, LABEL + "-");
    }
}
