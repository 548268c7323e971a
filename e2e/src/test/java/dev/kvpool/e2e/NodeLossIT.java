// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.K3sNode;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.OnCluster;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Scene;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** A pool on two nodes of the cluster, of which one loses its power. */
@OnCluster
@Order(4)
@TestInstance(Lifecycle.PER_CLASS)
class NodeLossIT {
    private static final String NAMESPACE = "kvpool-e2e-node-loss";
    private static final String POOL = "two-nodes";
    private static final int OBJECTS = 400;
    private static final int COPIES = 2;

    private Cluster cluster;
    private K3sNode second;
    private Scene scene;

    @BeforeAll
    void makePool(Cluster cluster, Operator operator) {
        this.cluster = cluster;
        second = cluster.addNode();
        scene = new Scene(cluster, NAMESPACE, POOL, OBJECTS);
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %s}
                spec:
                  cache: {replicas: %d, repair: {delay: 5s}}
                  storage: [{name: spread, replicas: 4, capacity: 128Mi}]
                """.formatted(POOL, COPIES));
        scene.pool().awaitReady();
    }

    @AfterAll
    void removeAll() {
        if (scene != null) {
            // Pods of a node that is gone end only when it is forgotten.
            cluster.remove(second);
            scene.close();
        } else if (second != null) {
            cluster.remove(second);
        }
    }

    @Test
    @DisplayName(
            "a node of the cluster is lost: every object is still there, copies are made anew, and the status says what is away")
    void aNodeLosesItsPower() {
        assertThat(podsByNode().keySet()).as("nodes with storage pods").hasSize(2);
        // Kubernetes needs 40 s to see that a node is gone, and would send clients there until then.
        cluster.kubectl().run("taint", "node", second.name(), "kvpool.dev/e2e=doomed:NoSchedule");
        scene.assertPut("before");

        second.kill();

        scene.assertReadBack("before");
        Wait.until(
                "every object has two copies on the other node",
                Limits.POOL_READY,
                () -> assertThat(report()).contains("\"underReplicatedObjects\":0,", "\"unavailableObjects\":0,"));
        assertThat(report()).contains("\"state\":\"away\"");
        scene.assertReadBack("before");
        Wait.until(
                "the status says who is away",
                Limits.STATUS,
                () -> assertThat(scene.pool().resource().getStatus().message())
                        .contains("of 4 storage nodes are ready"));
        scene.assertPut("after");
    }

    private Map<String, List<Pod>> podsByNode() {
        return scene.pool().storagePods().stream()
                .collect(Collectors.groupingBy(pod -> pod.getSpec().getNodeName()));
    }

    /** What the leader says of the pool. */
    private String report() {
        String leader = scene.pool().leaseHolder().pod();
        return cluster.kubectl()
                .run(
                        "get",
                        "--raw",
                        "/api/v1/namespaces/%s/pods/%s:9003/proxy/api/v1/pool".formatted(NAMESPACE, leader));
    }
}
