// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.storage.SsdSpec;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.api.v1alpha1.storage.VolumeType;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.ByteAmount;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeDevice;
import io.fabric8.kubernetes.api.model.VolumeDeviceBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The disk below a segment. It lives as long as the segment does, for a node believes what is on it only as far as the
 * segment beside it says so.
 */
public final class SsdVolume {
    /** Name of the volume that the tier's file is on. */
    public static final String VOLUME = "ssd";

    private static final String DIRECTORY = "/var/lib/kvpool-ssd";

    private static final String DEVICE = "/dev/kvpool-ssd";

    /** Blocks of the file system that the kubelet counts besides those of the file. */
    private static final long SLACK_BYTES = 64L << 20;

    private SsdVolume() {}

    /** Claims bring their own. */
    static Optional<Volume> volume(PoolBlueprint pool, StorageSetSpec set) {
        if (set.ssd() != null && set.volume().type() == VolumeType.HOST_PATH) {
            return Optional.of(HostDirectory.volume(VOLUME, HostDirectory.ssd(set, pool.poolId())));
        }
        return onDiskOfKubelet(set)
                .map(limit -> new VolumeBuilder()
                        .withName(VOLUME)
                        .withNewEmptyDir()
                        .withSizeLimit(limit)
                        .endEmptyDir()
                        .build());
    }

    /** What the scheduler has to find on the disk where volumes of pods are; a pod that takes more than it asked for is the first to be evicted. */
    static Optional<Quantity> onDiskOfKubelet(StorageSetSpec set) {
        return set.ssd() == null || set.volume().type() != VolumeType.EMPTY_DIR
                ? Optional.empty()
                : Optional.of(ByteAmount.exact(bytes(set.ssd()) + SLACK_BYTES));
    }

    static List<VolumeMount> mounts(StorageSetSpec set) {
        return set.ssd() == null || set.ssd().onDevice()
                ? List.of()
                : List.of(new VolumeMountBuilder()
                        .withName(VOLUME)
                        .withMountPath(DIRECTORY)
                        .build());
    }

    static List<VolumeDevice> devices(StorageSetSpec set) {
        return set.ssd() != null && set.ssd().onDevice()
                ? List.of(new VolumeDeviceBuilder()
                        .withName(VOLUME)
                        .withDevicePath(DEVICE)
                        .build())
                : List.of();
    }

    static List<String> arguments(StorageSetSpec set) {
        if (set.ssd() == null) {
            return List.of();
        }
        List<String> arguments = new ArrayList<>(
                List.of("--ssd-path=" + (set.ssd().onDevice() ? DEVICE : DIRECTORY), "--ssd-size=" + bytes(set.ssd())));
        SsdKey.argument(set).ifPresent(arguments::add);
        return arguments;
    }

    private static long bytes(SsdSpec ssd) {
        return ByteAmount.bytes(ssd.capacity());
    }
}
