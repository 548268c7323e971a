// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Clients;
import dev.kvpool.e2e.pool.LocalVolumes;
import dev.kvpool.e2e.pool.NodeFiles;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Scene;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pool goes over to a version that reads none of its segments, one of which lies on a volume that outlives its pod: 0.1.0
 * writes layout 1, 0.5.0 knows layout 2 alone.
 */
@OnScene(namespace = DrainedUpgradeIT.NAMESPACE, pool = DrainedUpgradeIT.POOL, objects = DrainedUpgradeIT.OBJECTS)
@Order(6)
@TestInstance(Lifecycle.PER_CLASS)
class DrainedUpgradeIT {
    private static final Logger LOG = LoggerFactory.getLogger(DrainedUpgradeIT.class);
    static final String NAMESPACE = "kvpool-e2e-drained";
    static final String POOL = "drained";
    private static final String DIRECTORY = "/run/kvpool-e2e-drained";
    static final int OBJECTS = 200;

    private static final String VOLUME_DIRECTORY = "/run/kvpool-e2e-drained-volume";
    private static final String VOLUMES = "kvpool-e2e-drained";

    /** Longer than two masters and three storage nodes take. */
    private static final Duration LOAD = Duration.ofMinutes(2);

    private Cluster cluster;
    private Scene scene;
    private Pool pool;
    private LocalVolumes volumes;

    @BeforeAll
    void makePool(Cluster cluster, Operator operator, Scene scene) {
        this.cluster = cluster;
        this.scene = scene;
        pool = scene.pool();
        cluster.kubectl()
                .run("label", "namespace", NAMESPACE, "--overwrite", "pod-security.kubernetes.io/enforce=privileged");
        String node = cluster.nodeNames().getFirst();
        new NodeFiles(cluster, NAMESPACE).in(node, VOLUME_DIRECTORY);
        volumes = new LocalVolumes(cluster, VOLUMES, node);
        volumes.directory("256Mi", VOLUME_DIRECTORY);
        apply("0.1.0");
        pool.awaitReady();
    }

    @AfterAll
    void removeVolumes() {
        if (volumes != null) {
            volumes.close();
        }
    }

    @Test
    @DisplayName(
            "an upgrade to a version that reads no segment of the pool empties each storage node first, and loses nothing")
    void everyStorageNodeIsEmptiedFirst() {
        scene.assertPut("before");
        // They know both wire versions, and stay while the pool goes over to the second.
        Clients clients = scene.clients().ofVersion("0.2.0");
        Clients.Load load = clients.startLoad("during", LOAD);

        apply("0.5.0");
        pool.awaitVersion("0.5.0", "NoUpgrade");

        load.awaitNothingLost().forEach(line -> LOG.info("load during the upgrade: {}", line));
        scene.assertReadBack(clients, "before");
        assertThat(pool.storagePods())
                .hasSize(3)
                .filteredOn(pod ->
                        pool.ask(pod.getMetadata().getName(), "metrics").contains("kvpool_node_replaced_layout 1.0"))
                .extracting(pod -> pod.getMetadata().getLabels().get("kvpool.dev/set"))
                .as("sets whose segments were there, and made anew in place")
                .containsExactlyInAnyOrder("kept", "claimed");
    }

    private void apply(String version) {
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %s}
                spec:
                  version: %s
                  upgrade: {stepTimeout: 90s}
                  cache: {replicas: 2, repair: {delay: 1s}}
                  storage:
                  - {name: kept, capacity: 128Mi, perNode: {}, volume: {type: hostPath, path: %s}}
                  - {name: claimed, capacity: 128Mi, volume: {type: persistentVolumeClaim, storageClassName: %s}}
                  - {name: memory, capacity: 128Mi}
                """.formatted(POOL, version, DIRECTORY, VOLUMES));
    }
}
