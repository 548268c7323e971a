// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.engine.AcceleratorSpec;
import dev.kvpool.api.v1alpha1.engine.DriverSource;
import dev.kvpool.api.v1alpha1.engine.HostFile;
import dev.kvpool.api.v1alpha1.engine.HostFileType;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.sizing.Sizing;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.ArrayList;
import java.util.List;

/**
 * What an Ascend accelerator adds to a storage pod. The device plugin, and ascend-docker-runtime where it is used,
 * bring device nodes and the driver; neither brings the configuration files of the host, which the user lists.
 */
final class AcceleratorParts {
    private static final String DRIVER = "/usr/local/Ascend/driver";
    private static final List<HostFile> DRIVER_FILES = List.of(
            new HostFile(DRIVER, HostFileType.DIRECTORY),
            new HostFile("/usr/local/dcmi", HostFileType.DIRECTORY),
            new HostFile("/usr/local/bin/npu-smi", HostFileType.FILE));

    /** CANN comes with the image, the driver's libraries from the host. */
    private static final String LIBRARY_PATH = String.join(
            ":",
            DRIVER + "/lib64",
            DRIVER + "/lib64/common",
            DRIVER + "/lib64/driver",
            "/usr/local/Ascend/ascend-toolkit/latest/lib64");

    private static final String SHM_VOLUME = "shm";

    private final AcceleratorSpec spec;

    AcceleratorParts(AcceleratorSpec spec) {
        this.spec = spec;
    }

    void addTo(ContainerResources resources) {
        resources.exactly(spec.resourceName(), new Quantity(Integer.toString(spec.count())));
    }

    List<EnvVar> environment() {
        List<EnvVar> environment = new ArrayList<>();
        if (spec.visibleDevicesAnnotation() != null) {
            environment.add(PodIdentity.field(
                    "ASCEND_VISIBLE_DEVICES", "metadata.annotations['" + spec.visibleDevicesAnnotation() + "']"));
        }
        environment.add(PodIdentity.value("LD_LIBRARY_PATH", LIBRARY_PATH));
        return environment;
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
        List<HostFile> files = files();
        for (int i = 0; i < files.size(); i++) {
            volumes.add(new VolumeBuilder()
                    .withName(volumeName(i))
                    .withNewHostPath()
                    .withPath(files.get(i).path())
                    .withType(hostPathType(files.get(i).type()))
                    .endHostPath()
                    .build());
        }
        return volumes;
    }

    List<VolumeMount> mounts() {
        List<VolumeMount> mounts = new ArrayList<>();
        mounts.add(new VolumeMountBuilder()
                .withName(SHM_VOLUME)
                .withMountPath("/dev/shm")
                .build());
        List<HostFile> files = files();
        for (int i = 0; i < files.size(); i++) {
            mounts.add(new VolumeMountBuilder()
                    .withName(volumeName(i))
                    .withMountPath(files.get(i).path())
                    .withReadOnly(true)
                    .build());
        }
        return mounts;
    }

    private List<HostFile> files() {
        List<HostFile> files = new ArrayList<>();
        if (spec.driverFrom() == DriverSource.HOST) {
            files.addAll(DRIVER_FILES);
        }
        for (HostFile wish : spec.hostFiles()) {
            if (files.stream().noneMatch(file -> file.path().equals(wish.path()))) {
                files.add(wish);
            }
        }
        return files;
    }

    private static String volumeName(int index) {
        return "host-" + index;
    }

    /** Never an OrCreate type: it would leave an empty file on a host that lacks the real one. */
    private static String hostPathType(HostFileType type) {
        return switch (type) {
            case FILE -> "File";
            case DIRECTORY -> "Directory";
        };
    }
}
