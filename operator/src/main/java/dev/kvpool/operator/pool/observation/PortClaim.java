// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import dev.kvpool.operator.pool.ascend.DevicePorts;
import dev.kvpool.operator.pool.naming.NodePorts;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Comparator;
import java.util.Optional;

/**
 * Ports that a storage set uses on the network of its nodes. They are kept on its StatefulSet or DaemonSet, so that a
 * set keeps them as long as it lives.
 *
 * @param owner namespace and name of the pool
 * @param workload kind and name of the set's StatefulSet or DaemonSet
 * @param ports the ports
 * @param devices those of the NPUs that its storage nodes open; empty where they open none
 */
public record PortClaim(String owner, String workload, NodePorts ports, Optional<DevicePorts> devices) {

    /** The same whichever operator looks, so that the same plan follows. */
    public static final Comparator<PortClaim> ORDER =
            Comparator.comparing(PortClaim::owner).thenComparing(PortClaim::workload);

    /** Empty for an object that claims none. */
    public static Optional<PortClaim> of(HasMetadata workload) {
        return port(workload, PoolLabels.FIRST_PORT)
                .map(first -> new PortClaim(
                        ownerOf(
                                workload.getMetadata().getNamespace(),
                                workload.getMetadata().getLabels().get(PoolLabels.POOL)),
                        workload.getKind() + "/" + workload.getMetadata().getName(),
                        NodePorts.from(first),
                        port(workload, PoolLabels.FIRST_DEVICE_PORT).map(DevicePorts::from)));
    }

    private static Optional<Integer> port(HasMetadata workload, String annotation) {
        return Optional.ofNullable(workload.getMetadata().getAnnotations())
                .map(annotations -> annotations.get(annotation))
                .filter(text -> text.matches("[1-9][0-9]{3,4}"))
                .map(Integer::valueOf);
    }

    public static String ownerOf(String namespace, String pool) {
        return namespace + "/" + pool;
    }
}
