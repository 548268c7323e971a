// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.List;
import java.util.Optional;

/**
 * The directory of a machine with the sockets by which a pool's storage nodes share memory with other pods there. It is
 * mounted at its own path everywhere, because that is what a storage node tells its clients.
 */
public final class NodeSockets {
    private static final String VOLUME = "sockets";

    private NodeSockets() {}

    /** Its path, on the machine and in containers; nothing when pods of this pool share no memory. */
    static Optional<String> directory(PoolBlueprint pool) {
        return Optional.ofNullable(pool.engine().socketDirectory()).map(pool.names()::socketDirectory);
    }

    public static Optional<Volume> volume(PoolBlueprint pool) {
        return directory(pool).map(path -> HostDirectory.volume(VOLUME, path));
    }

    public static Optional<VolumeMount> mount(PoolBlueprint pool) {
        return directory(pool)
                .map(path -> new VolumeMountBuilder()
                        .withName(VOLUME)
                        .withMountPath(path)
                        .build());
    }

    /** Others of the group may look for sockets there, as for those of agents. */
    static Optional<Container> owner(PoolBlueprint pool, long user) {
        return mount(pool).map(mount -> HostDirectory.owner(pool, VOLUME, "0750", user, List.of(mount)));
    }
}
