// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.api.v1alpha1.engine.AcceleratorSpec;
import dev.kvpool.operator.apiserver.ApiServer;
import dev.kvpool.operator.pool.ascend.AscendEnvironment;
import dev.kvpool.operator.pool.ascend.DeviceNeeds;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeDevice;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What the operator names in pods of any golden pool, a podTemplate may not name: the API server would refuse a workload with two
 * volumes of one name, or two mounts at one path, and the pool would not be carried out. A new volume of the operator needs its
 * name in the rules of {@code ExtraVolume} and {@code ExtraVolumeMount}.
 */
class ReservedNamesTest {
    private static final String NAMESPACE = "reserved-names";

    /** Defaults that a podTemplate may replace, for hardware that the operator does not know. */
    private static final Set<String> REPLACEABLE =
            Set.of("LD_LIBRARY_PATH", "HCCL_IF_IP", "ACL_OP_INIT_MODE", "ASCEND_LOCAL_COMM_RES");

    private static KubernetesClient client;

    @BeforeAll
    static void connect() {
        client = ApiServer.shared().client();
        ApiServer.shared().createNamespace(NAMESPACE);
    }

    @AfterAll
    static void disconnect() {
        client.close();
    }

    @Test
    void noVolumeOfTheOperatorCanBeNamedByAPodTemplate() throws IOException {
        Set<String> names = new TreeSet<>();
        for (GoldenPool pool : pools()) {
            List<String> own = pool.podTemplates().stream()
                    .flatMap(template -> template.volumes().stream())
                    .map(volume -> volume.name())
                    .toList();
            workloads(pool)
                    .flatMap(ReservedNamesTest::volumes)
                    .filter(name -> !own.contains(name))
                    .forEach(names::add);
        }

        assertThat(names).contains("segments", "certificate", "ssd-key", "sockets-1");
        assertThat(names)
                .filteredOn(name -> isAccepted("{volumes: [{name: '%s', emptyDir: {}}]}".formatted(name)))
                .as("volumes of the operator that ExtraVolume lets a podTemplate name")
                .isEmpty();
    }

    /** Those of sockets and of further files of hosts come from the TransferEngine, which the rules of a pool cannot see. */
    @Test
    void noMountPathOfTheOperatorCanBeTakenByAPodTemplate() throws IOException {
        Set<String> paths = new TreeSet<>();
        for (GoldenPool pool : pools()) {
            List<String> own = pool.podTemplates().stream()
                    .flatMap(template -> template.volumeMounts().stream())
                    .map(mount -> mount.mountPath())
                    .toList();
            List<String> ofEngines = pool.engineSpecs().stream()
                    .flatMap(ReservedNamesTest::paths)
                    .toList();
            workloads(pool)
                    .flatMap(workload -> containers(pod(workload)))
                    .flatMap(ReservedNamesTest::paths)
                    .filter(path -> !own.contains(path) && ofEngines.stream().noneMatch(path::startsWith))
                    .forEach(paths::add);
        }

        assertThat(paths).contains("/tmp", "/etc/kvpool/certificate", "/usr/local/Ascend/driver", "/dev/kvpool-ssd");
        assertThat(paths)
                .filteredOn(path ->
                        isAccepted("{volumes: [{name: a, emptyDir: {}}], volumeMounts: [{name: a, mountPath: '%s'}]}"
                                .formatted(path)))
                .as("mount paths of the operator that ExtraVolumeMount lets a podTemplate take")
                .isEmpty();
    }

    @Test
    void noVariableOfTheOperatorButADefaultCanBeSetByAPodTemplate() throws IOException {
        Set<String> names = new TreeSet<>();
        for (GoldenPool pool : pools()) {
            List<String> own = pool.podTemplates().stream()
                    .flatMap(template -> template.env().stream())
                    .map(variable -> variable.name())
                    .toList();
            workloads(pool)
                    .flatMap(workload -> containers(pod(workload)))
                    .flatMap(container -> container.getEnv().stream())
                    .map(EnvVar::getName)
                    .filter(name -> !own.contains(name))
                    .forEach(names::add);
        }

        assertThat(names).contains("POD_IP", "NODE_NAME", "KVPOOL_REPLICAS").containsAll(REPLACEABLE);
        assertThat(names)
                .filteredOn(name -> !REPLACEABLE.contains(name) && !AscendEnvironment.isOfField(name))
                .filteredOn(name -> isAccepted("{env: [{name: '%s', value: x}]}".formatted(name)))
                .as("variables of the operator that EnvironmentVariable lets a podTemplate set")
                .isEmpty();
    }

    private static List<GoldenPool> pools() throws IOException {
        return GoldenPool.names().stream().map(GoldenPool::of).toList();
    }

    private static Stream<HasMetadata> workloads(GoldenPool pool) throws IOException {
        return pool.plan().apply().stream().filter(child -> child instanceof StatefulSet || child instanceof DaemonSet);
    }

    private static PodSpec pod(HasMetadata workload) {
        return workload instanceof StatefulSet set
                ? set.getSpec().getTemplate().getSpec()
                : ((DaemonSet) workload).getSpec().getTemplate().getSpec();
    }

    private static Stream<String> volumes(HasMetadata workload) {
        Stream<String> inPod = pod(workload).getVolumes().stream().map(Volume::getName);
        return workload instanceof StatefulSet set
                ? Stream.concat(
                        inPod,
                        set.getSpec().getVolumeClaimTemplates().stream()
                                .map(PersistentVolumeClaim::getMetadata)
                                .map(metadata -> metadata.getName()))
                : inPod;
    }

    /** Those that a podTemplate adds to. */
    private static Stream<Container> containers(PodSpec pod) {
        return Stream.concat(
                pod.getContainers().stream().limit(1),
                pod.getInitContainers().stream()
                        .filter(container -> container.getName().equals(DeviceNeeds.CONTAINER)));
    }

    private static Stream<String> paths(Container container) {
        return Stream.concat(
                container.getVolumeMounts().stream().map(VolumeMount::getMountPath),
                container.getVolumeDevices().stream().map(VolumeDevice::getDevicePath));
    }

    private static Stream<String> paths(TransferEngineSpec engine) {
        List<String> paths = new ArrayList<>();
        paths.add(engine.socketDirectory());
        Stream.ofNullable(engine.accelerator())
                .map(AcceleratorSpec::hostFiles)
                .flatMap(List::stream)
                .forEach(file -> paths.add(file.path()));
        return paths.stream().filter(Objects::nonNull);
    }

    private static boolean isAccepted(String podTemplate) {
        KvCachePool pool =
                client.getKubernetesSerialization().unmarshal("""
                        apiVersion: kvpool.dev/v1alpha1
                        kind: KvCachePool
                        metadata: {name: pool, namespace: %s}
                        spec: {masters: {podTemplate: %s}, storage: []}
                        """.formatted(NAMESPACE, podTemplate), KvCachePool.class);
        var refusal = catchThrowableOfType(
                KubernetesClientException.class,
                () -> client.resource(pool).dryRun().create());
        if (refusal != null) {
            assertThat(refusal).hasMessageContaining("podTemplate").hasMessageContaining("operator");
        }
        return refusal == null;
    }
}
