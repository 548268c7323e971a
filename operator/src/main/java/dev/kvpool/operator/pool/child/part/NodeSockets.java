// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The directory of a machine with the sockets by which a pool's storage nodes share memory with other pods there. It is
 * mounted at its own path everywhere, because that is what a storage node tells its clients.
 */
public final class NodeSockets {
    private static final String VOLUME = "sockets";

    private NodeSockets() {}

    /** Its path, on the machine and in containers; nothing when the engine's storage nodes share no memory. */
    static Optional<String> directory(PoolBlueprint pool, TransferEngineSpec engine) {
        return Optional.ofNullable(engine.socketDirectory()).map(pool.names()::socketDirectory);
    }

    static Optional<Volume> volume(PoolBlueprint pool, TransferEngineSpec engine) {
        return directory(pool, engine).map(path -> HostDirectory.volume(VOLUME, path));
    }

    static Optional<VolumeMount> mount(PoolBlueprint pool, TransferEngineSpec engine) {
        return directory(pool, engine).map(path -> mount(VOLUME, path));
    }

    /** Others of the group may look for sockets there, as for those of agents. */
    static Optional<Container> owner(PoolBlueprint pool, TransferEngineSpec engine, long user) {
        return mount(pool, engine)
                .map(mount -> HostDirectory.owner(pool, pool.storage().image(), VOLUME, "0750", user, List.of(mount)));
    }

    /** Of all sets, for agents; sets with other engines may have theirs elsewhere. */
    public static List<Volume> volumes(PoolBlueprint pool) {
        return IntStream.range(0, directories(pool).size())
                .mapToObj(i -> HostDirectory.volume(name(i), directories(pool).get(i)))
                .toList();
    }

    /** Where they are mounted. */
    public static List<VolumeMount> mounts(PoolBlueprint pool) {
        return IntStream.range(0, directories(pool).size())
                .mapToObj(i -> mount(name(i), directories(pool).get(i)))
                .toList();
    }

    private static List<String> directories(PoolBlueprint pool) {
        return pool.engines().socketDirectories().stream()
                .map(pool.names()::socketDirectory)
                .toList();
    }

    private static String name(int index) {
        return index == 0 ? VOLUME : VOLUME + "-" + index;
    }

    private static VolumeMount mount(String volume, String path) {
        return new VolumeMountBuilder().withName(volume).withMountPath(path).build();
    }
}
