// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.device;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The device plugin of e2e/fake-device-plugin, with the resources of its daemonset.yaml, on the first Kubernetes node. */
public final class FakeDevicePlugin implements AutoCloseable {

    /** Four NPUs, whose device files containers get. */
    public static final String NPUS = "huawei.com/Ascend910";

    /** Two NPUs of a cluster with ascend-docker-runtime. */
    public static final String RUNTIME_NPUS = "huawei.com/ascend-1980";

    /** Eight shares of an RDMA card. */
    public static final String CARDS = "rdma/hca_shared_devices_a";

    /** Where containers with NPUs see {@link #LIBRARIES}, which is where CANN is looked for. */
    public static final String MOUNTED_LIBRARIES = "/usr/local/Ascend/cann/lib64";

    /** A directory of the node. */
    public static final String LIBRARIES = "/run/fake-cann";

    private static final String NAMESPACE = "kvpool-e2e-fake-device-plugin";
    private static final String NAME = "fake-device-plugin";

    private final Cluster cluster;
    private final String node;
    private String pod;

    public FakeDevicePlugin(Cluster cluster) {
        this.cluster = cluster;
        this.node = cluster.nodeNames().getFirst();
    }

    /** Returns when the node offers its resources. */
    public void start() {
        cluster.createNamespace(NAMESPACE, "privileged");
        cluster.kubectl()
                .attempt(manifest().replace("@NAMESPACE@", NAMESPACE), "apply", "-f", "-")
                .orThrow();
        cluster.kubectl().run("rollout", "status", "--namespace", NAMESPACE, "daemonset/" + NAME, "--timeout=80s");
        pod = cluster.client().pods().inNamespace(NAMESPACE).withLabel("app", NAME).list().getItems().stream()
                .filter(each -> node.equals(each.getSpec().getNodeName()))
                .findFirst()
                .orElseThrow()
                .getMetadata()
                .getName();
        awaitAllocatable(NPUS, 4);
        awaitAllocatable(RUNTIME_NPUS, 2);
        awaitAllocatable(CARDS, 8);
    }

    private String manifest() {
        try {
            return Files.readString(cluster.settings().repository().resolve("e2e/fake-device-plugin/daemonset.yaml"));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the manifest of the device plugin", e);
        }
    }

    /** Devices of the node that pods may be given, which are the healthy ones. */
    public void awaitAllocatable(String resource, int devices) {
        Wait.until(
                "node %s has %d of %s to allocate".formatted(node, devices, resource),
                Limits.STATUS,
                () -> assertThat(nodeStatus().getAllocatable())
                        .containsEntry(resource, new Quantity(Integer.toString(devices))));
    }

    /** All devices of the node, the sick ones too. */
    public Quantity capacity(String resource) {
        return nodeStatus().getCapacity().get(resource);
    }

    private io.fabric8.kubernetes.api.model.NodeStatus nodeStatus() {
        return cluster.client().nodes().withName(node).require().getStatus();
    }

    /** Makes an empty file in {@link #LIBRARIES}. */
    public void addFile(String name) {
        exec("touch", LIBRARIES + "/" + name);
    }

    /** Puts the libraries of a folder into {@link #LIBRARIES}. */
    public void addLibraries(Path folder) {
        cluster.kubectl().run("cp", folder + "/.", "%s/%s:%s".formatted(NAMESPACE, pod, LIBRARIES));
    }

    /**
     * Changes health.
     *
     * @param lines a line for each device that is not healthy
     */
    public void setFaults(String... lines) {
        exec(
                "sh",
                "-c",
                "cd /run/fake-device-plugin && printf '%s\\n' \"$@\" > new && mv new health",
                "sh",
                String.join("\n", lines));
    }

    /** What Ascend's plugin tells of a resource: the value of the given key of {@code DeviceList}. */
    public String deviceInfo(String key) {
        String config = cluster.client()
                .configMaps()
                .inNamespace("kube-system")
                .withName(configMap())
                .require()
                .getData()
                .get("DeviceInfoCfg");
        return Serialization.unmarshal(config, DeviceInfoConfig.class)
                .info()
                .devices()
                .get(key);
    }

    /** Devices that a container holds by the kubelet's account, by resource. */
    public Map<String, List<String>> heldBy(Pod holder) {
        return read(exec(NAME, "allocations"), new TypeReference<List<Allocation>>() {}).stream()
                .filter(each -> each.namespace().equals(holder.getMetadata().getNamespace()))
                .filter(each -> each.pod().equals(holder.getMetadata().getName()))
                .collect(java.util.stream.Collectors.toMap(Allocation::resource, Allocation::devices));
    }

    /** What the only container of a pod has, seen from the node. */
    public InspectedContainer inspect(Pod inspected) {
        List<ContainerStatus> containers = inspected.getStatus().getContainerStatuses();
        assertThat(containers).hasSize(1);
        String id = containers.getFirst().getContainerID();
        return read(
                exec(NAME, "inspect", id.substring(id.indexOf("//") + 2)), new TypeReference<InspectedContainer>() {});
    }

    private static <T> T read(String json, TypeReference<T> type) {
        return Serialization.unmarshal(json, type);
    }

    private String exec(String... command) {
        List<String> words = new java.util.ArrayList<>(List.of("exec", "--namespace", NAMESPACE, pod, "--"));
        words.addAll(List.of(command));
        return cluster.kubectl().run(words.toArray(String[]::new));
    }

    private String configMap() {
        return "mindx-dl-deviceinfo-" + node;
    }

    /** Takes it away; the node then has none of its resources to allocate. */
    @Override
    public void close() {
        cluster.deleteNamespace(NAMESPACE);
        cluster.kubectl()
                .run(
                        "delete",
                        "--namespace=kube-system",
                        "--ignore-not-found",
                        "role/" + NAME,
                        "rolebinding/" + NAME,
                        "configmap/" + configMap(),
                        "clusterrole/" + NAME,
                        "clusterrolebinding/" + NAME);
        cluster.kubectl().run("label", "node", node, "accelerator-");
    }
}
