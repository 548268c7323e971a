// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.observation;

import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/**
 * Where a pod of a pool says what it knows, as the pod itself has it: on the network of nodes each storage set and the agents have
 * a port of their own. Pure.
 *
 * @param port of its HTTP
 * @param path of what it says of itself
 */
public record AdminPage(int port, String path) {

    /** Empty for a pod that serves nothing, as those of Jobs. */
    public static Optional<AdminPage> of(Pod pod) {
        return path(role(pod))
                .flatMap(path -> pod.getSpec().getContainers().stream()
                        .flatMap(container -> container.getPorts().stream())
                        .filter(port -> PoolNames.ADMIN.equals(port.getName()))
                        .map(ContainerPort::getContainerPort)
                        .findFirst()
                        .map(port -> new AdminPage(port, path)));
    }

    /** The container that does the pod's work. */
    public static String container(Pod pod) {
        return pod.getSpec().getContainers().stream()
                .map(Container::getName)
                .findFirst()
                .orElse("");
    }

    public static String role(Pod pod) {
        return pod.getMetadata().getLabels().getOrDefault(PoolLabels.ROLE, "");
    }

    private static Optional<String> path(String role) {
        return switch (role) {
            case PoolLabels.ROLE_MASTER -> Optional.of("/api/v1/pool");
            case PoolLabels.ROLE_STORAGE -> Optional.of("/api/v1/node");
            case PoolLabels.ROLE_AGENT -> Optional.of("/api/v1/agent");
            default -> Optional.empty();
        };
    }
}
