// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import dev.kvpool.operator.pool.naming.ByteAmount;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSpec;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Taint;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What the operator wants to know of a Kubernetes node. The parts of its status that change all the time are not in it.
 *
 * @param name its name
 * @param labels its labels
 * @param taints its taints
 * @param cordoned true when no pod shall come to it any more, as before its maintenance
 * @param ready false when its kubelet was not heard of for a while, or is not well
 * @param memoryBytes memory that it has for pods, whether they are there already or not; 0 while it has not said
 * @param withheld how many devices of an extended resource its kubelet has and gives to no pod, as they are unhealthy; only where there
 *     are such
 * @param npus those of its NPUs that are not well, as far as that is asked for
 */
public record ObservedNode(
        String name,
        Map<String, String> labels,
        List<Taint> taints,
        boolean cordoned,
        boolean ready,
        long memoryBytes,
        Map<String, Integer> withheld,
        SickNpus npus) {
    private static final String ZONE = "topology.kubernetes.io/zone";

    private static final String READY = "Ready";

    /** Follows the field of the same name; where only one of them is seen, the other one comes a moment later. */
    private static final String UNSCHEDULABLE = "node.kubernetes.io/unschedulable";

    public ObservedNode {
        labels = Map.copyOf(labels);
        taints = List.copyOf(taints);
        withheld = Map.copyOf(withheld);
    }

    /** One whose NPUs are well, or of no interest. */
    public ObservedNode(
            String name,
            Map<String, String> labels,
            List<Taint> taints,
            boolean cordoned,
            boolean ready,
            long memoryBytes) {
        this(name, labels, taints, cordoned, ready, memoryBytes, Map.of(), SickNpus.NONE);
    }

    public ObservedNode with(SickNpus others) {
        return new ObservedNode(name, labels, taints, cordoned, ready, memoryBytes, withheld, others);
    }

    public static ObservedNode of(Node node) {
        return new ObservedNode(
                node.getMetadata().getName(),
                Objects.requireNonNullElse(node.getMetadata().getLabels(), Map.of()),
                node.getSpec() == null ? List.of() : node.getSpec().getTaints(),
                isCordoned(node.getSpec()),
                isReady(node.getStatus()),
                memoryBytes(node.getStatus()),
                withheld(node.getStatus()),
                SickNpus.NONE);
    }

    private static boolean isReady(NodeStatus status) {
        return status != null
                && status.getConditions().stream()
                        .anyMatch(
                                condition -> READY.equals(condition.getType()) && "True".equals(condition.getStatus()));
    }

    private static long memoryBytes(NodeStatus status) {
        Quantity memory = status == null ? null : status.getAllocatable().get("memory");
        return memory == null ? 0 : ByteAmount.bytes(memory);
    }

    /** Of extended resources alone: of memory and processors nodes keep some for themselves. */
    private static Map<String, Integer> withheld(NodeStatus status) {
        if (status == null) {
            return Map.of();
        }
        Map<String, Integer> withheld = new HashMap<>();
        status.getCapacity().forEach((resource, capacity) -> {
            Quantity allocatable = status.getAllocatable().get(resource);
            int lacks = allocatable == null || resource.indexOf('/') < 0
                    ? 0
                    : capacity.getNumericalAmount()
                            .subtract(allocatable.getNumericalAmount())
                            .intValue();
            if (lacks > 0) {
                withheld.put(resource, lacks);
            }
        });
        return withheld;
    }

    private static boolean isCordoned(NodeSpec spec) {
        return spec != null
                && (Boolean.TRUE.equals(spec.getUnschedulable())
                        || spec.getTaints().stream().anyMatch(taint -> UNSCHEDULABLE.equals(taint.getKey())));
    }

    /** Key of the taint by which no pod shall come to it, or none stay, if it is one of these. One that is only a hint does not count. */
    public Optional<String> taint(List<String> keys) {
        return taints.stream()
                .filter(taint -> keys.contains(taint.getKey()) && !"PreferNoSchedule".equals(taint.getEffect()))
                .map(Taint::getKey)
                .findFirst();
    }

    /** The failure domain it lies in, where the cluster says so. */
    public Optional<String> zone() {
        return Optional.ofNullable(labels.get(ZONE)).filter(zone -> !zone.isEmpty());
    }
}
