// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.device.FakeDevicePlugin;
import dev.kvpool.e2e.device.InspectedContainer;
import dev.kvpool.e2e.device.InspectedContainer.DeviceFile;
import dev.kvpool.e2e.device.InspectedContainer.Mount;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Scene;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** Storage nodes with NPUs and RDMA cards, which a fake device plugin hands out through the real kubelet. */
@OnScene(namespace = DevicesIT.NAMESPACE, pool = DevicesIT.POOL, objects = DevicesIT.OBJECTS)
@Order(4)
@TestInstance(Lifecycle.PER_CLASS)
class DevicesIT {
    static final String NAMESPACE = "kvpool-e2e-devices";
    static final String POOL = "devices";

    /** Of 64 KiB each. */
    static final int OBJECTS = 50;

    private static final long BYTES = OBJECTS * 65536L;

    private static final String CONFIGURATION = "hccn.conf";

    private Cluster cluster;
    private Scene scene;
    private FakeDevicePlugin plugin;
    private Pool cards;

    /** Of its own: its NPUs have the numbers of the others, so that each would be taken for sick with another. */
    private Pool runtime;

    @BeforeAll
    void makePool(Cluster cluster, Operator operator, Scene scene) {
        this.cluster = cluster;
        this.scene = scene;
        plugin = new FakeDevicePlugin(cluster);
        plugin.start();
        plugin.addFile(CONFIGURATION);
        plugin.addLibraries(cluster.settings().cann().orElseThrow());
        cluster.kubectl()
                .run("label", "namespace", NAMESPACE, "--overwrite", "pod-security.kubernetes.io/enforce=privileged");
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: TransferEngine
                metadata: {name: npus}
                spec:
                  protocols: [ascend, tcp]
                  accelerator:
                    chip: A2
                    resourceName: %1$s
                    count: 2
                    driverFrom: Host
                    driverRoot: %4$s
                    hostFiles: [{path: %4$s/%5$s}]
                ---
                apiVersion: kvpool.dev/v1alpha1
                kind: TransferEngine
                metadata: {name: runtime}
                spec:
                  protocols: [ascend, tcp]
                  accelerator: {chip: A2, resourceName: %2$s}
                ---
                apiVersion: kvpool.dev/v1alpha1
                kind: TransferEngine
                metadata: {name: cards}
                spec:
                  protocols: [ucx, tcp]
                  rdma: {resourceName: %3$s}
                ---
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %6$s}
                spec:
                  security: {mode: "Off"}
                  transferEngine: npus
                  masters: {replicas: 1}
                  storage:
                  - {name: npus, capacity: 64Mi, podTemplate: {nodeSelector: {accelerator: huawei-Ascend910}}}
                  - {name: plain, capacity: 64Mi, transferEngine: plain}
                ---
                apiVersion: kvpool.dev/v1alpha1
                kind: TransferEngine
                metadata: {name: plain}
                spec:
                  protocols: [tcp]
                ---
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: runtime}
                spec:
                  security: {mode: "Off"}
                  transferEngine: runtime
                  masters: {replicas: 1}
                  storage:
                  - {name: runtime, capacity: 64Mi, podTemplate: {nodeSelector: {accelerator: huawei-Ascend910}}}
                ---
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: cards}
                spec:
                  security: {mode: "Off"}
                  transferEngine: cards
                  masters: {replicas: 1}
                  storage:
                  - {name: cards, capacity: 64Mi}
                """.formatted(
                        FakeDevicePlugin.NPUS,
                        FakeDevicePlugin.RUNTIME_NPUS,
                        FakeDevicePlugin.CARDS,
                        FakeDevicePlugin.LIBRARIES,
                        CONFIGURATION,
                        POOL));
        cards = new Pool(cluster, NAMESPACE, "cards");
        runtime = new Pool(cluster, NAMESPACE, "runtime");
        scene.pool().awaitReady();
        cards.awaitReady();
        runtime.awaitReady();
    }

    @AfterAll
    void removePlugin() {
        if (plugin != null) {
            plugin.close();
        }
    }

    @Test
    @DisplayName(
            "where the device plugin hands out device files, a storage node holds those of its NPUs and no other, and files of the host")
    void deviceFiles() {
        Pod pod = podOfSet("npus");
        List<String> held = heldBy(pod, FakeDevicePlugin.NPUS, 2);
        List<String> expected = new ArrayList<>(List.of("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"));
        held.forEach(device -> expected.add("/dev/davinci" + number(device)));

        InspectedContainer container = plugin.inspect(pod);
        assertThat(container.devicePaths()).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(container.devices()).as("the null device's number").allSatisfy(this::isNull);
        assertThat(container.environment())
                .doesNotContainKey("ASCEND_VISIBLE_DEVICES")
                .hasEntrySatisfying(
                        "LD_LIBRARY_PATH", path -> assertThat(path).startsWith("/usr/local/Ascend/driver/lib64:"));
        assertThat(ofHostAndDriver(container))
                .containsExactlyInAnyOrder(
                        new Mount(FakeDevicePlugin.MOUNTED_LIBRARIES, true),
                        new Mount("/usr/local/Ascend/driver", true),
                        new Mount("/usr/local/dcmi", true),
                        new Mount("/usr/local/bin/npu-smi", true),
                        new Mount("/etc/hccn.conf", true),
                        new Mount("/etc/ascend_install.info", true),
                        new Mount(FakeDevicePlugin.LIBRARIES + "/" + CONFIGURATION, true),
                        new Mount("/dev/shm", false));
    }

    /** Mounts where files of the host and of the driver go, without those that every container has. */
    private static List<Mount> ofHostAndDriver(InspectedContainer container) {
        List<String> ofKubelet = List.of("/etc/hosts", "/etc/hostname", "/etc/resolv.conf");
        List<String> folders =
                List.of("/etc/", "/lib/", "/usr/", "/opt/", FakeDevicePlugin.LIBRARIES + "/", "/dev/shm");
        return container.mounts().stream()
                .filter(mount -> folders.stream().anyMatch(mount.path()::startsWith))
                .filter(mount -> !ofKubelet.contains(mount.path()))
                .toList();
    }

    @Test
    @DisplayName("where it leaves that to ascend-docker-runtime, a storage node is told the numbers of its NPUs")
    void environmentForTheRuntime() {
        Pod pod = runtime.storagePods().getFirst();
        String device = heldBy(pod, FakeDevicePlugin.RUNTIME_NPUS, 1).getFirst();

        InspectedContainer container = plugin.inspect(pod);
        assertThat(container.environment())
                .containsEntry("ASCEND_VISIBLE_DEVICES", number(device))
                .containsEntry("ASCEND_RUNTIME_OPTIONS", "");
        assertThat(container.devices()).isEmpty();
        assertThat(ofHostAndDriver(container))
                .as("what the runtime does not bring, and the stand-in for CANN")
                .containsExactlyInAnyOrder(
                        new Mount(FakeDevicePlugin.MOUNTED_LIBRARIES, true),
                        new Mount("/etc/hccn.conf", true),
                        new Mount("/etc/ascend_install.info", true),
                        new Mount("/usr/local/Ascend/driver/version.info", true),
                        new Mount("/usr/local/Ascend/driver/tools/hccn_tool", true),
                        new Mount("/dev/shm", false));
    }

    @Test
    @DisplayName("a storage node with an RDMA card holds the card's device files")
    void rdmaCards() {
        Pod pod = cards.storagePods().getFirst();
        heldBy(pod, FakeDevicePlugin.CARDS, 1);
        assertThat(plugin.inspect(pod).devicePaths())
                .containsExactlyInAnyOrder(
                        "/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs0", "/dev/infiniband/umad0");
    }

    @Test
    @DisplayName("another pod is given another NPU, and its user may open it by the group of device files")
    void anotherPodHasAnotherDevice() {
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: v1
                kind: Pod
                metadata: {name: opens}
                spec:
                  restartPolicy: Never
                  securityContext: {runAsUser: 65532, runAsGroup: 65532, supplementalGroups: [1000]}
                  containers:
                  - name: opens
                    image: kvpool-client:0.1.0
                    command: [python3, -c, "import glob; [open(f, 'r+b', 0).write(b'x') for f in glob.glob('/dev/davinci*')]; import time; time.sleep(600)"]
                    readinessProbe: {exec: {command: [test, -c, /dev/davinci_manager]}}
                    resources: {limits: {%s: 1}}
                """.formatted(FakeDevicePlugin.NPUS));
        cluster.kubectl().awaitCondition(NAMESPACE, "pod/opens", "condition=Ready", Limits.CLIENT_POD);
        Pod pod =
                cluster.client().pods().inNamespace(NAMESPACE).withName("opens").require();
        assertThat(heldBy(pod, FakeDevicePlugin.NPUS, 1))
                .doesNotContainAnyElementsOf(heldBy(podOfSet("npus"), FakeDevicePlugin.NPUS, 2));
    }

    @Test
    @DisplayName("values of clients with NPUs in other pods travel by CANN's stand-in, both ways")
    void valuesTravelByCann() {
        scene.assertPut(scene.clients().withNpu(FakeDevicePlugin.NPUS), "npus");
        scene.assertReadBack(scene.clients().withNpu(FakeDevicePlugin.NPUS), "npus");

        // One of two storage nodes has it; the first values of a connection may leave before the way is known.
        assertThat(movedByCann("writeBytes")).as("bytes put by CANN").isGreaterThan(BYTES / 10);
        assertThat(movedByCann("readBytes")).as("bytes read by CANN").isGreaterThan(BYTES / 10);
    }

    private long movedByCann(String direction) {
        return scene.pool()
                .nodeDocument(podOfSet("npus"))
                .path("ascend")
                .path(direction)
                .longValue();
    }

    @Test
    @DisplayName(
            "the node offers a device that turns unhealthy no more; the storage node that holds it is emptied, in the same pod, and comes back")
    void aSickDevice() {
        scene.assertPut("sick");
        Pod before = podOfSet("npus");
        String sick = heldBy(before, FakeDevicePlugin.NPUS, 2).getFirst();
        assertThat(plugin.deviceInfo(FakeDevicePlugin.NPUS + "-Unhealthy")).isEmpty();

        plugin.setFaults(sick + " Unhealthy RestartNPU 80E18005");
        plugin.awaitAllocatable(FakeDevicePlugin.NPUS, 3);
        assertThat(plugin.capacity(FakeDevicePlugin.NPUS)).isEqualTo(new Quantity("4"));
        assertThat(plugin.deviceInfo(FakeDevicePlugin.NPUS + "-Unhealthy")).isEqualTo(sick);
        assertThat(plugin.deviceInfo(FakeDevicePlugin.NPUS + "-Fault"))
                .contains("\"npu_name\":\"" + sick + "\"", "\"fault_level\":\"RestartNPU\"");
        scene.pool().awaitReason("DeviceUnhealthy");
        Wait.until(
                "its storage node is empty",
                Limits.STATUS,
                () -> assertThat(objectsOn(before)).isZero());
        scene.assertReadBack("sick");
        assertThat(podOfSet("npus").getMetadata().getUid())
                .isEqualTo(before.getMetadata().getUid());

        plugin.setFaults();
        plugin.awaitAllocatable(FakeDevicePlugin.NPUS, 4);
        Wait.until(
                "the ConfigMap tells of no sick device",
                Limits.STATUS,
                () -> assertThat(plugin.deviceInfo(FakeDevicePlugin.NPUS + "-Unhealthy"))
                        .isEmpty());
        scene.pool().awaitReason("RuntimeFound");
        Wait.until("its storage node takes values again", Limits.STATUS, () -> {
            scene.assertPut("well-" + System.nanoTime());
            assertThat(objectsOn(before)).isPositive();
        });
        assertThat(podOfSet("npus").getMetadata().getUid())
                .isEqualTo(before.getMetadata().getUid());
    }

    private long objectsOn(Pod storageNode) {
        return scene.pool().nodeDocument(storageNode).path("objects").longValue();
    }

    private Pod podOfSet(String set) {
        return scene.pool().storagePods().stream()
                .filter(pod -> set.equals(pod.getMetadata().getLabels().get("kvpool.dev/set")))
                .findFirst()
                .orElseThrow();
    }

    /** Devices of the resource; the pod must hold so many, and none of another resource. */
    private List<String> heldBy(Pod pod, String resource, int count) {
        var held = plugin.heldBy(pod);
        assertThat(held).containsOnlyKeys(resource);
        assertThat(held.get(resource)).doesNotHaveDuplicates().hasSize(count);
        return held.get(resource);
    }

    private void isNull(DeviceFile file) {
        assertThat(file.major()).isEqualTo(1);
        assertThat(file.minor()).isEqualTo(3);
    }

    /** Of Ascend910-3 it is 3. */
    private static String number(String device) {
        return device.substring(device.lastIndexOf('-') + 1);
    }
}
