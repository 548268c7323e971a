// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.api.v1alpha1.StorageSetSpec;
import dev.kvpool.operator.pool.PoolBlueprint;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;

/** The directory of a node in which a storage node of a perNode set keeps its segment. */
public final class HostDirectory {
    private HostDirectory() {}

    /**
     * Its path. The pool's identity is in its name, so that a pool finds its own, and never those of one that had its name
     * before; nodes of a set need no name in it, since there is one on each node.
     */
    public static String path(StorageSetSpec set, String poolId) {
        return "%s/%s.%s".formatted(set.volume().path(), poolId, set.name());
    }

    static Volume volume(PoolBlueprint pool, StorageSetSpec set) {
        return new VolumeBuilder()
                .withName(SegmentMemory.VOLUME)
                .withNewHostPath()
                .withPath(path(set, pool.poolId()))
                .withType("DirectoryOrCreate")
                .endHostPath()
                .build();
    }

    /** Gives the directory, which the kubelet made as root's, to the user of the storage node and nobody else. */
    static Container owner(PoolBlueprint pool, String mountedAt) {
        return owner(pool, SegmentMemory.VOLUME, mountedAt, "0700");
    }

    /** The same for the directory of any volume. */
    static Container owner(PoolBlueprint pool, String volume, String mountedAt, String mode) {
        String user = Long.toString(PodSecurity.USER);
        return new ContainerBuilder()
                .withName("directory")
                .withImage(pool.storageImage())
                .withImagePullPolicy(PullPolicy.name(pool.spec().imagePullPolicy()))
                .withCommand("install", "-d", "-o", user, "-g", user, "-m", mode, mountedAt)
                .withResources(new ContainerResources()
                        .request("cpu", new Quantity("10m"))
                        .exactly("memory", new Quantity("32Mi"))
                        .build())
                .withSecurityContext(PodSecurity.root("CHOWN", "FOWNER"))
                .withVolumeMounts(new VolumeMountBuilder()
                        .withName(volume)
                        .withMountPath(mountedAt)
                        .build())
                .build();
    }
}
