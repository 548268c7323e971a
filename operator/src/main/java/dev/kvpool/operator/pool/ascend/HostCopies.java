// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.ascend;

import dev.kvpool.api.v1alpha1.engine.AcceleratorChip;
import dev.kvpool.api.v1alpha1.engine.AcceleratorSpec;
import dev.kvpool.api.v1alpha1.engine.DriverSource;
import dev.kvpool.api.v1alpha1.engine.HostFile;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Files of the host that CANN reads where they are, and does without where they are not, such as /etc/hccn.conf on machines whose NPUs
 * have no network cards. A pod cannot mount what may be missing: with a type the kubelet refuses to start it, without one the container
 * runtime makes an empty directory of that name on the host, and a parent such as /etc would hide the container's own. So an init
 * container sees the top directory of each file, read only, and copies what is there to a volume of the pod; the container with the
 * NPU sees the copies only. What is missing is an empty file.
 */
public final class HostCopies {
    private static final String VOLUME = "host-files";
    private static final String COPIES = "/files";
    private static final String HOST = "/host";

    /** What is copied is at most this, as the command that copies says. */
    private static final Quantity SIZE = new Quantity("64Mi");

    /** Paths on the host, by those in the container. */
    private final Map<String, String> files = new LinkedHashMap<>();

    public HostCopies(AcceleratorSpec accelerator) {
        add("/etc/hccn.conf");
        add("/etc/ascend_install.info");
        if (accelerator.driverFrom() == DriverSource.RUNTIME) {
            ofDriver("version.info", accelerator);
            ofDriver("tools/hccn_tool", accelerator);
        } else {
            add("/usr/local/dcmi");
            add("/usr/local/bin/npu-smi");
        }
        if (accelerator.chip() == AcceleratorChip.A5) {
            add("/etc/hccl_rootinfo.json");
            add("/etc/hixlep");
            add("/lib/route.conf");
        }
        accelerator.hostFiles().stream()
                .map(HostFile::path)
                .filter(path -> accelerator.driverFrom() == DriverSource.RUNTIME || !isOfDriver(path))
                .forEach(this::add);
    }

    /** What is mounted with the whole driver; nothing can be mounted into that where it has no such file. */
    private static boolean isOfDriver(String path) {
        return path.startsWith(AcceleratorSpec.DRIVER_ROOT + "/");
    }

    private void add(String path) {
        files.put(path, path);
    }

    private void ofDriver(String file, AcceleratorSpec accelerator) {
        files.put(AcceleratorSpec.DRIVER_ROOT + "/" + file, accelerator.driverRoot() + "/" + file);
    }

    public List<Volume> volumes() {
        List<Volume> volumes = new ArrayList<>();
        volumes.add(new VolumeBuilder()
                .withName(VOLUME)
                .withNewEmptyDir()
                .withSizeLimit(SIZE)
                .endEmptyDir()
                .build());
        for (String top : tops()) {
            volumes.add(new VolumeBuilder()
                    .withName(volume(top))
                    .withNewHostPath()
                    .withPath("/" + top)
                    .withType("Directory")
                    .endHostPath()
                    .build());
        }
        return volumes;
    }

    /** Arguments of the container that copies. */
    public List<String> arguments() {
        List<String> arguments = new ArrayList<>(List.of("copy-host-files"));
        files.forEach((inside, onHost) -> {
            arguments.add(HOST + onHost);
            arguments.add(COPIES + inside);
        });
        return arguments;
    }

    /** Of the container that copies. */
    public List<VolumeMount> mountsOfCopying() {
        List<VolumeMount> mounts = new ArrayList<>();
        mounts.add(
                new VolumeMountBuilder().withName(VOLUME).withMountPath(COPIES).build());
        for (String top : tops()) {
            mounts.add(new VolumeMountBuilder()
                    .withName(volume(top))
                    .withMountPath(HOST + "/" + top)
                    .withReadOnly(true)
                    .build());
        }
        return mounts;
    }

    /** Of the container with the NPU. */
    public List<VolumeMount> mounts() {
        return files.keySet().stream()
                .map(inside -> new VolumeMountBuilder()
                        .withName(VOLUME)
                        .withMountPath(inside)
                        .withSubPath(inside.substring(1))
                        .withReadOnly(true)
                        .build())
                .toList();
    }

    /** Directories right below the root of the host: every host has them. */
    private List<String> tops() {
        return files.values().stream()
                .map(path -> path.substring(1, path.indexOf('/', 1)))
                .distinct()
                .sorted()
                .toList();
    }

    private static String volume(String top) {
        return "host-" + top;
    }
}
