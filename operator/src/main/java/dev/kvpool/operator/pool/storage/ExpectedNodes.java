// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.storage;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.blueprint.ExpectedNode;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** What the masters are told of the storage nodes they shall expect. Pure. */
public final class ExpectedNodes {
    private ExpectedNodes() {}

    /** The nodes of these ids, in this order, with their failure domains. Pure. */
    public static List<ExpectedNode> of(List<String> ids, PoolObservation seen) {
        Map<String, String> names = hosts(seen);
        Map<String, ObservedNode> nodes = seen.nodes().stream().collect(Collectors.toMap(ObservedNode::name, n -> n));
        Map<String, ObservedNode> hosts = new HashMap<>();
        for (String id : ids) {
            Optional.ofNullable(names.get(id)).map(nodes::get).ifPresent(node -> hosts.put(id, node));
        }
        Map<String, String> domains = FailureDomains.of(hosts);
        return ids.stream()
                .map(id -> new ExpectedNode(id, Optional.ofNullable(domains.get(id))))
                .toList();
    }

    /** Names of machines by storage node id. Where a perNode set will be is known before its pods exist. */
    private static Map<String, String> hosts(PoolObservation seen) {
        Map<String, String> hosts = new HashMap<>();
        for (StorageSetSpec set : seen.spec().storage()) {
            if (set.perNode() != null) {
                seen.nodes().forEach(node -> hosts.put(PoolNames.perNodeId(set.name(), node.name()), node.name()));
            }
        }
        WrittenDirectories.of(seen).known().forEach(directory -> hosts.put(directory.id(), directory.node()));
        seen.pods(PoolLabels.ROLE_STORAGE).forEach(pod -> hosts.put(pod.nodeId(), pod.node()));
        return hosts;
    }
}
