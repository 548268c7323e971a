// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.storage;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.child.part.PerNodeTerms;
import dev.kvpool.operator.pool.observation.ObservedNode;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Whether a perNode set gets a storage node on a Kubernetes node. It decides as Kubernetes does for the set's
 * DaemonSet, so that the masters expect the nodes that will come. Pure.
 */
final class NodeFit {
    private static final String NO_EXECUTE = "NoExecute";
    private static final Set<String> REPELLING = Set.of("NoSchedule", NO_EXECUTE);

    /** Taints that every pod of a DaemonSet tolerates, with the effect it tolerates. */
    private static final Set<String> ALWAYS_TOLERATED = Set.of(
            "node.kubernetes.io/not-ready:NoExecute",
            "node.kubernetes.io/unreachable:NoExecute",
            "node.kubernetes.io/disk-pressure:NoSchedule",
            "node.kubernetes.io/memory-pressure:NoSchedule",
            "node.kubernetes.io/pid-pressure:NoSchedule",
            "node.kubernetes.io/unschedulable:NoSchedule");

    /** Tolerated by pods on the host's network, which need no pod network. */
    private static final String NO_POD_NETWORK = "node.kubernetes.io/network-unavailable:NoSchedule";

    private final StorageSetSpec set;
    private final boolean hostNetwork;

    /**
     * @param hostNetwork whether the set's pods use the network of their nodes
     */
    NodeFit(StorageSetSpec set, boolean hostNetwork) {
        this.set = set;
        this.hostNetwork = hostNetwork;
    }

    /** True when the node has the labels the set asks for. */
    boolean selects(ObservedNode node) {
        boolean labelled = set.perNode().nodeSelector().entrySet().stream()
                .allMatch(wanted -> wanted.getValue().equals(node.labels().get(wanted.getKey())));
        return labelled
                && PerNodeTerms.wished(set)
                        .map(terms -> anyMatches(terms, node))
                        .orElse(true);
    }

    /** True when a new storage node may come to the node. */
    boolean admits(ObservedNode node) {
        return node.taints().stream()
                .filter(taint -> REPELLING.contains(taint.getEffect()))
                .allMatch(this::tolerates);
    }

    /** True when a storage node that is there may stay. */
    boolean keeps(ObservedNode node) {
        return node.taints().stream()
                .filter(taint -> NO_EXECUTE.equals(taint.getEffect()))
                .allMatch(this::tolerates);
    }

    private boolean tolerates(Taint taint) {
        String name = taint.getKey() + ":" + taint.getEffect();
        return ALWAYS_TOLERATED.contains(name)
                || (hostNetwork && name.equals(NO_POD_NETWORK))
                || set.podTemplate().tolerations().stream().anyMatch(toleration -> tolerates(toleration, taint));
    }

    private static boolean tolerates(Toleration toleration, Taint taint) {
        boolean sameEffect =
                isEmpty(toleration.getEffect()) || toleration.getEffect().equals(taint.getEffect());
        boolean sameKey = isEmpty(toleration.getKey()) || toleration.getKey().equals(taint.getKey());
        boolean anyValue = "Exists".equals(toleration.getOperator());
        // Without a key only Exists is allowed, and means every taint.
        boolean keyed = anyValue || !isEmpty(toleration.getKey());
        boolean sameValue = Objects.equals(text(toleration.getValue()), text(taint.getValue()));
        return sameEffect && sameKey && keyed && (anyValue || sameValue);
    }

    private static boolean anyMatches(List<NodeSelectorTerm> terms, ObservedNode node) {
        return terms.stream().anyMatch(term -> matches(term, node));
    }

    private static boolean matches(NodeSelectorTerm term, ObservedNode node) {
        boolean empty =
                term.getMatchExpressions().isEmpty() && term.getMatchFields().isEmpty();
        return !empty
                && term.getMatchExpressions().stream()
                        .allMatch(wanted -> matches(wanted, node.labels().get(wanted.getKey())))
                // The only field Kubernetes knows here is the name.
                && term.getMatchFields().stream().allMatch(wanted -> matches(wanted, node.name()));
    }

    private static boolean matches(NodeSelectorRequirement wanted, String actual) {
        return switch (wanted.getOperator()) {
            case "In" -> actual != null && wanted.getValues().contains(actual);
            case "NotIn" -> actual == null || !wanted.getValues().contains(actual);
            case "Exists" -> actual != null;
            case "DoesNotExist" -> actual == null;
            case "Gt" -> compares(actual, wanted, 1);
            case "Lt" -> compares(actual, wanted, -1);
            default -> false;
        };
    }

    /** Labels are compared as whole numbers; what is none never matches. */
    private static boolean compares(String actual, NodeSelectorRequirement wanted, int sign) {
        try {
            long limit = Long.parseLong(wanted.getValues().getFirst());
            return actual != null && Integer.signum(Long.compare(Long.parseLong(actual), limit)) == sign;
        } catch (NumberFormatException e) {
            return false;
        }
    }

    private static boolean isEmpty(String text) {
        return text == null || text.isEmpty();
    }

    private static String text(String value) {
        return value == null ? "" : value;
    }
}
