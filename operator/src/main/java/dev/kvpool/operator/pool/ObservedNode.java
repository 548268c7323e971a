// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Taint;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What the operator wants to know of a node of the cluster. Its status, which changes all the time, is no part of it.
 *
 * @param name its name
 * @param labels its labels
 * @param taints its taints
 */
public record ObservedNode(String name, Map<String, String> labels, List<Taint> taints) {
    private static final String ZONE = "topology.kubernetes.io/zone";

    public ObservedNode {
        labels = Map.copyOf(labels);
        taints = List.copyOf(taints);
    }

    public static ObservedNode of(Node node) {
        return new ObservedNode(
                node.getMetadata().getName(),
                Objects.requireNonNullElse(node.getMetadata().getLabels(), Map.of()),
                node.getSpec() == null ? List.of() : node.getSpec().getTaints());
    }

    /** The failure domain it lies in, where the cluster says so. */
    public Optional<String> zone() {
        return Optional.ofNullable(labels.get(ZONE)).filter(zone -> !zone.isEmpty());
    }
}
