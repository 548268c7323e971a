// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.api.v1alpha1.engine.AcceleratorMode;
import dev.kvpool.api.v1alpha1.engine.AcceleratorSpec;
import dev.kvpool.api.v1alpha1.engine.DriverSource;
import dev.kvpool.operator.pool.ascend.AscendEnvironment;
import dev.kvpool.operator.pool.ascend.DeviceNeeds;
import dev.kvpool.operator.pool.ascend.HostCopies;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.sizing.Sizing;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What Ascend NPUs add to a storage pod. The device plugin, and ascend-docker-runtime where it is used, bring device nodes and the
 * driver; neither brings the configuration files of the host.
 */
final class AcceleratorParts {
    private static final String DRIVER = AcceleratorSpec.DRIVER_ROOT;
    private static final String VISIBLE_DEVICES = "ASCEND_VISIBLE_DEVICES";

    /** CANN comes with the image, the driver's libraries from the host. */
    private static final String LIBRARY_PATH = String.join(
            ":",
            DRIVER + "/lib64",
            DRIVER + "/lib64/common",
            DRIVER + "/lib64/driver",
            "/usr/local/Ascend/cann/lib64",
            "/usr/local/Ascend/ascend-toolkit/latest/lib64");

    /** The default of Kubernetes, said so that both sides of it are. */
    private static final String MESSAGES = "/dev/termination-log";

    private static final String SHM_VOLUME = "shm";
    private static final String DRIVER_VOLUME = "host-driver";

    private final AcceleratorSpec spec;
    private final HostCopies copies;

    private AcceleratorParts(AcceleratorSpec spec) {
        this.spec = spec;
        this.copies = new HostCopies(spec);
    }

    /** Empty for a storage node that opens no NPU. */
    static Optional<AcceleratorParts> of(TransferEngineSpec engine) {
        return Optional.ofNullable(engine.accelerator())
                .filter(AcceleratorSpec::opensDevices)
                .map(AcceleratorParts::new);
    }

    /** Devices that are shared cannot be requested: a pod that requests one has it alone. */
    void addTo(ContainerResources resources) {
        if (spec.mode() == AcceleratorMode.DEDICATED) {
            resources.exactly(spec.resource(), new Quantity(Integer.toString(spec.devicesOfNode())));
        }
    }

    /**
     * ASCEND_RT_VISIBLE_DEVICES is not set: it counts the container's devices, of which all are wanted, and physical numbers in it find
     * no device.
     */
    List<EnvVar> environment() {
        List<EnvVar> environment = new ArrayList<>();
        if (spec.mode() == AcceleratorMode.SHARED) {
            String devices = spec.devices().stream().map(String::valueOf).collect(Collectors.joining(","));
            environment.add(PodIdentity.value(VISIBLE_DEVICES, devices));
        } else if (spec.visibleDevicesAnnotation() != null) {
            environment.add(PodIdentity.field(
                    VISIBLE_DEVICES, "metadata.annotations['" + spec.visibleDevicesAnnotation() + "']"));
        }
        AscendEnvironment.of(spec).forEach((name, value) -> environment.add(PodIdentity.value(name, value)));
        // On the network of its node a pod has several addresses, of which HCCL would take any.
        environment.add(PodIdentity.value("HCCL_IF_IP", "$(POD_IP)"));
        environment.add(PodIdentity.value("LD_LIBRARY_PATH", LIBRARY_PATH));
        return environment;
    }

    /** That of the device files; a root user of the podTemplate needs none. */
    long group() {
        return spec.group();
    }

    List<Volume> volumes() {
        List<Volume> volumes = new ArrayList<>();
        volumes.add(new VolumeBuilder()
                .withName(SHM_VOLUME)
                .withNewEmptyDir()
                .withMedium("Memory")
                .withSizeLimit(ByteAmount.exact(Sizing.DRIVER_SHARED_MEMORY_BYTES))
                .endEmptyDir()
                .build());
        if (mountsDriver()) {
            volumes.add(new VolumeBuilder()
                    .withName(DRIVER_VOLUME)
                    .withNewHostPath()
                    .withPath(spec.driverRoot())
                    .withType("Directory")
                    .endHostPath()
                    .build());
        }
        volumes.addAll(copies.volumes());
        return volumes;
    }

    List<VolumeMount> mounts() {
        List<VolumeMount> mounts = new ArrayList<>();
        mounts.add(new VolumeMountBuilder()
                .withName(SHM_VOLUME)
                .withMountPath("/dev/shm")
                .build());
        if (mountsDriver()) {
            mounts.add(new VolumeMountBuilder()
                    .withName(DRIVER_VOLUME)
                    .withMountPath(DRIVER)
                    .withReadOnly(true)
                    .build());
        }
        mounts.addAll(copies.mounts());
        return mounts;
    }

    /** Runs before the storage node. */
    Container copying(PoolBlueprint pool) {
        return new ContainerBuilder()
                .withName("host-files")
                .withImage(pool.storage().image())
                .withImagePullPolicy(pool.pullPolicy())
                .withArgs(copies.arguments())
                .withResources(new ContainerResources()
                        .request("cpu", new Quantity("10m"))
                        .exactly("memory", new Quantity("32Mi"))
                        .build())
                .withSecurityContext(PodSecurity.container())
                .withVolumeMounts(copies.mountsOfCopying())
                .build();
    }

    /** Looks, before the storage node starts and with the same devices, whether it finds what it needs. */
    Container checking(PoolBlueprint pool, String protocols) {
        ContainerResources resources = new ContainerResources()
                .request("cpu", new Quantity("10m"))
                // The libraries of CANN and the driver, which it loads; the storage node needs more than that.
                .exactly("memory", new Quantity("1Gi"));
        addTo(resources);
        List<EnvVar> environment = new ArrayList<>(PodIdentity.environment());
        environment.addAll(environment());
        return new ContainerBuilder()
                .withName(DeviceNeeds.CONTAINER)
                .withImage(pool.storage().image())
                .withImagePullPolicy(pool.pullPolicy())
                .withArgs(DeviceNeeds.arguments(spec, protocols, MESSAGES))
                .withEnv(environment)
                .withResources(resources.build())
                .withSecurityContext(PodSecurity.container(true))
                .withTerminationMessagePath(MESSAGES)
                .withVolumeMounts(mounts())
                .build();
    }

    private boolean mountsDriver() {
        return spec.driverFrom() == DriverSource.HOST;
    }
}
