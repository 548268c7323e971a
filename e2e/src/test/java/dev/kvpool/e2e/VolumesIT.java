// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.LocalVolumes;
import dev.kvpool.e2e.pool.NodeDisk;
import dev.kvpool.e2e.pool.NodeFiles;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Scene;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.TestMethodOrder;

/** Storage nodes whose bytes outlive their pods: in a directory on their node's tmpfs, and on claims, one of them a bare device. */
@OnScene(namespace = VolumesIT.NAMESPACE, pool = VolumesIT.POOL, objects = VolumesIT.OBJECTS)
@Order(4)
@TestInstance(Lifecycle.PER_CLASS)
@TestMethodOrder(OrderAnnotation.class)
class VolumesIT {
    static final String NAMESPACE = "kvpool-e2e-volumes";
    static final String POOL = "volumes";
    static final int OBJECTS = 200;

    /** On the one tmpfs that nodes which are containers have and that is larger than Docker's 64 MB. */
    private static final String DIRECTORY = "/run/kvpool-e2e";

    /** Of SSDs. On the same tmpfs, so it takes memory and is small. */
    private static final String SSD_DIRECTORY = "/run/kvpool-e2e-ssd";

    private static final String VOLUME_DIRECTORY = "/run/kvpool-e2e-volume";

    /** Storage class. */
    private static final String VOLUMES = "kvpool-e2e-local";

    private static final long DEVICE_BYTES = 32 << 20;

    private Cluster cluster;
    private Scene scene;
    private Pool pool;
    private NodeFiles files;
    private NodeDisk disk;
    private LocalVolumes volumes;

    @BeforeAll
    void makeNamespace(Cluster cluster, Operator operator, Scene scene) {
        this.cluster = cluster;
        this.scene = scene;
        pool = scene.pool();
        files = new NodeFiles(cluster, NAMESPACE);
    }

    @AfterAll
    void removeVolumes() {
        if (volumes != null) {
            volumes.close();
            disk.close();
        }
    }

    @Test
    @Order(1)
    @DisplayName("where the namespace admits no directories of nodes, the condition names the label and the way out")
    void aRestrictedNamespaceRefusesIt() {
        apply(spread());

        pool.awaitReason("NamespaceRefusesHostPath");
        assertThat(message("SpecValid"))
                .contains(
                        "Namespace " + NAMESPACE + " has the label pod-security.kubernetes.io/enforce=restricted",
                        "Set the label to privileged");
        cluster.kubectl()
                .run("label", "namespace", NAMESPACE, "--overwrite", "pod-security.kubernetes.io/enforce=privileged");
        pool.awaitReady();
    }

    @Test
    @Order(2)
    @DisplayName("a storage pod that is deleted comes back with every object, within the same memory limit")
    void aReplacedPodFindsItsSegment() {
        scene.assertPut("before");
        Pod after = replacePodOfSet("host");
        scene.assertReadBack("before");
        assertThat(metrics(after))
                .contains("kvpool_node_ssd_off 0.0")
                .doesNotContain("kvpool_node_ssd_capacity_bytes 0.0");
        assertThat(pool.storagePods().getFirst().getStatus().getContainerStatuses())
                .allSatisfy(container -> assertThat(container.getRestartCount()).isZero());
    }

    @Test
    @Order(3)
    @DisplayName(
            "when the set is removed what it held moves on, and its directories are removed from the node, by Jobs")
    void aRemovedSetLeavesNothingOnTheNode() {
        String node = pool.storagePods().getFirst().getSpec().getNodeName();
        assertThat(directories()).contains("host." + node, DIRECTORY + "/", SSD_DIRECTORY + "/");
        assertThat(files.in(node, DIRECTORY)).singleElement().asString().endsWith(".host");
        assertThat(files.in(node, SSD_DIRECTORY)).singleElement().asString().endsWith(".host.ssd");

        makeVolumes(node);
        apply(claimed());
        Wait.until(
                "no directory is written down any more",
                Limits.POOL_READY,
                () -> assertThat(directories()).doesNotContain(DIRECTORY));
        pool.awaitReady();

        assertThat(files.in(node, DIRECTORY)).isEmpty();
        assertThat(files.in(node, SSD_DIRECTORY)).isEmpty();
        scene.assertReadBack("before");
    }

    @Test
    @Order(4)
    @DisplayName(
            "a storage pod on a claim that is deleted is made anew on the same claim, and has every object without a write")
    void aReplacedPodFindsItsClaim() {
        List<String> claims = claims();
        assertThat(claims).as("claims of the segment and of the device").hasSize(2);

        Pod after = replacePodOfSet("claimed");

        assertThat(claims()).as("claims, by uid").isEqualTo(claims);
        scene.assertReadBack("before");
        // Nobody else holds anything in this pool: what it serves it has found.
        assertThat(metrics(after))
                .contains("kvpool_node_restored_objects " + OBJECTS + ".0")
                .contains("kvpool_node_writes_total 0.0", "kvpool_node_copies_in_total 0.0")
                .contains("kvpool_node_ssd_off 0.0")
                .doesNotContain("kvpool_node_ssd_capacity_bytes 0.0");
    }

    @Test
    @Order(5)
    @DisplayName(
            "when the pool is deleted its directories are removed from the node, by Jobs, and nothing of it is left")
    void aDeletedPoolLeavesNothingOnTheNode() {
        apply(claimed() + ", " + spread());
        Wait.until(
                "the set has a pod",
                Limits.POOL_READY,
                () -> assertThat(pool.storagePods()).hasSize(2));
        pool.awaitReady();
        String node = pool.storagePods().getFirst().getSpec().getNodeName();
        assertThat(files.in(node, DIRECTORY)).singleElement().asString().endsWith(".host");

        cluster.client().resource(pool.resource()).delete();
        Wait.until(
                "no list of directories is there any more",
                Limits.POOL_READY,
                () -> assertThat(lists("{.items[*].metadata.name}")).isEmpty());

        assertThat(files.in(node, DIRECTORY)).isEmpty();
        assertThat(files.in(node, SSD_DIRECTORY)).isEmpty();
        Wait.until("the claim is gone", Limits.GONE, () -> assertThat(claims()).isEmpty());
    }

    private static String spread() {
        return "{name: host, capacity: 128Mi, perNode: {}, volume: {type: hostPath, path: %s}, ssd: {capacity: 16Mi, path: %s}}"
                .formatted(DIRECTORY, SSD_DIRECTORY);
    }

    private static String claimed() {
        return """
                {name: claimed, capacity: 128Mi, volume: {type: persistentVolumeClaim, storageClassName: %1$s}, \
                ssd: {capacity: 16Mi, storageClassName: %1$s, volumeMode: Block}}""".formatted(VOLUMES);
    }

    private void makeVolumes(String node) {
        assertThat(files.in(node, VOLUME_DIRECTORY)).isEmpty();
        disk = new NodeDisk(cluster, NAMESPACE, node, VOLUMES, DEVICE_BYTES);
        volumes = new LocalVolumes(cluster, VOLUMES, node);
        volumes.directory("256Mi", VOLUME_DIRECTORY);
        volumes.device(Long.toString(DEVICE_BYTES), disk.path());
    }

    /** Deletes the pod of the only storage node there is, and waits for the next one. */
    private Pod replacePodOfSet(String set) {
        Pod before = pool.storagePods().getFirst();
        assertThat(before.getMetadata().getLabels()).containsEntry("kvpool.dev/set", set);
        cluster.client().resource(before).delete();
        Wait.until(
                "another pod runs on node " + before.getSpec().getNodeName(),
                Limits.POOL_READY,
                () -> assertThat(pool.storagePods()).singleElement().satisfies(pod -> {
                    assertThat(pod.getMetadata().getUid())
                            .isNotEqualTo(before.getMetadata().getUid());
                    assertThat(pod.getSpec().getNodeName())
                            .isEqualTo(before.getSpec().getNodeName());
                }));
        pool.awaitReady();
        return pool.storagePods().getFirst();
    }

    private List<String> claims() {
        return cluster.client().persistentVolumeClaims().inNamespace(NAMESPACE).list().getItems().stream()
                .map(claim -> claim.getMetadata().getUid())
                .toList();
    }

    private String metrics(Pod storage) {
        return pool.ask(storage.getMetadata().getName(), "metrics");
    }

    private void apply(String set) {
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %s}
                spec:
                  storage: [%s]
                """.formatted(POOL, set));
    }

    private String directories() {
        return lists("{.items[*].data}");
    }

    /** Of ConfigMaps in which directories of nodes are written down. */
    private String lists(String what) {
        return cluster.kubectl()
                .run(
                        "get",
                        "configmap",
                        "--namespace",
                        NAMESPACE,
                        "-l",
                        "kvpool.dev/role=directories",
                        "-o",
                        "jsonpath=" + what);
    }

    private String message(String type) {
        return pool.resource().getStatus().conditions().stream()
                .filter(condition -> condition.type().equals(type))
                .findFirst()
                .orElseThrow()
                .message();
    }
}
