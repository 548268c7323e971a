// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.NodeAffinity;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirementBuilder;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.NodeSelectorTermBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Which Kubernetes nodes the pods of a perNode set may be on, as terms of a node affinity, of which one must match:
 * the set's selector joined with each term of its own affinity, and the nodes that keep their storage node, by name.
 */
public final class PerNodeTerms {
    private static final String NAME_FIELD = "metadata.name";

    private PerNodeTerms() {}

    /** Empty when every node matches. */
    public static Optional<List<NodeSelectorTerm>> of(StorageSetSpec set, NodePlacement placement) {
        List<NodeSelectorTerm> terms = new ArrayList<>();
        for (NodeSelectorTerm term : wished(set).orElse(List.of(new NodeSelectorTerm()))) {
            terms.add(new NodeSelectorTermBuilder(term)
                    .addAllToMatchExpressions(labels(set))
                    .addAllToMatchFields(names("NotIn", placement.excluded()))
                    .build());
        }
        if (terms.contains(new NodeSelectorTerm())) {
            return Optional.empty();
        }
        placement
                .kept()
                .forEach(node -> terms.add(new NodeSelectorTermBuilder()
                        .addAllToMatchFields(names("In", List.of(node)))
                        .build()));
        return Optional.of(terms);
    }

    /** The terms of the set's own required node affinity; empty when it has none. */
    public static Optional<List<NodeSelectorTerm>> wished(StorageSetSpec set) {
        return Optional.ofNullable(set.podTemplate().affinity())
                .map(Affinity::getNodeAffinity)
                .map(NodeAffinity::getRequiredDuringSchedulingIgnoredDuringExecution)
                .map(required -> required.getNodeSelectorTerms());
    }

    private static List<NodeSelectorRequirement> labels(StorageSetSpec set) {
        return new TreeMap<>(set.perNode().nodeSelector())
                .entrySet().stream()
                        .map(label -> requirement(label.getKey(), "In", label.getValue()))
                        .toList();
    }

    /** Kubernetes takes one name in each requirement. */
    private static List<NodeSelectorRequirement> names(String operator, List<String> nodes) {
        return nodes.stream()
                .map(node -> requirement(NAME_FIELD, operator, node))
                .toList();
    }

    private static NodeSelectorRequirement requirement(String key, String operator, String value) {
        return new NodeSelectorRequirementBuilder()
                .withKey(key)
                .withOperator(operator)
                .withValues(value)
                .build();
    }
}
