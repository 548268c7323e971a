// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.api.v1alpha1.storage.VolumeType;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The directories of a node in which a storage node of a perNode set keeps its segment, and its SSD where it has one.
 *
 * <p>The pool's identity is in their names, so that a pool finds its own, and never those of one that had its name before;
 * nodes of a set need no name in it, since there is one on each node. Names of sets have no dot, so all may have one parent.
 */
public final class HostDirectory {
    private HostDirectory() {}

    /** What a pool calls those of a set, wherever they are. */
    public static Set<String> names(String set, String poolId) {
        return Set.of(segmentName(set, poolId), ssdName(set, poolId));
    }

    /** Paths of those that a storage node of the set has. */
    public static List<String> paths(StorageSetSpec set, String poolId) {
        return set.ssd() == null ? List.of(segment(set, poolId)) : List.of(segment(set, poolId), ssd(set, poolId));
    }

    /** The directories that these are in, in the same order; none for a set that has none of them. */
    public static List<String> parents(StorageSetSpec set) {
        if (set.volume().type() != VolumeType.HOST_PATH) {
            return List.of();
        }
        String segments = set.volume().path();
        return set.ssd() == null
                ? List.of(segments)
                : List.of(segments, set.ssd().path());
    }

    static String segment(StorageSetSpec set, String poolId) {
        return set.volume().path() + "/" + segmentName(set.name(), poolId);
    }

    static String ssd(StorageSetSpec set, String poolId) {
        return set.ssd().path() + "/" + ssdName(set.name(), poolId);
    }

    public static Volume volume(String name, String path) {
        return new VolumeBuilder()
                .withName(name)
                .withNewHostPath()
                .withPath(path)
                .withType("DirectoryOrCreate")
                .endHostPath()
                .build();
    }

    /** Gives what is mounted, which the kubelet made as root's, to the user of kvpool's processes. */
    public static Container owner(
            PoolBlueprint pool, String image, String container, String mode, long user, List<VolumeMount> mounts) {
        List<String> arguments = new ArrayList<>(List.of("own-directories", Long.toString(user), mode));
        mounts.forEach(mount -> arguments.add(mount.getMountPath()));
        return new ContainerBuilder()
                .withName(container)
                .withImage(image)
                .withImagePullPolicy(pool.pullPolicy())
                .withArgs(arguments)
                .withResources(new ContainerResources()
                        .request("cpu", new Quantity("10m"))
                        .exactly("memory", new Quantity("32Mi"))
                        .build())
                .withSecurityContext(PodSecurity.root("CHOWN", "FOWNER"))
                .withVolumeMounts(mounts)
                .build();
    }

    private static String segmentName(String set, String poolId) {
        return poolId + "." + set;
    }

    private static String ssdName(String set, String poolId) {
        return segmentName(set, poolId) + ".ssd";
    }
}
