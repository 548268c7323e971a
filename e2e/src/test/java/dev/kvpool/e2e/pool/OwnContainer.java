// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.pool;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The container of kvpool in a pod, among those that admission may have put beside it. */
final class OwnContainer {
    private static final Map<String, String> NAMES = Map.of("master", "master", "storage", "node");

    private OwnContainer() {}

    /** As the pod asks for it. */
    static Container of(Pod pod) {
        return find(pod, pod.getSpec().getContainers(), Container::getName);
    }

    static ContainerStatus statusOf(Pod pod) {
        return find(pod, pod.getStatus().getContainerStatuses(), ContainerStatus::getName);
    }

    /** Pods of the operator and of clients have one only. */
    private static <T> T find(Pod pod, List<T> containers, Function<T, String> name) {
        String own = NAMES.get(pod.getMetadata().getLabels().getOrDefault(Pool.ROLE_LABEL, ""));
        return containers.stream()
                .filter(container -> own == null || own.equals(name.apply(container)))
                .findFirst()
                .orElseThrow();
    }
}
