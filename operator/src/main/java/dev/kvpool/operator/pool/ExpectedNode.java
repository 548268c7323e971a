// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.StorageSetSpec;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A storage node the masters shall expect.
 *
 * @param id its id
 * @param zone zone of the node of the cluster it is on; empty while it is on none, or on one without a zone
 */
public record ExpectedNode(String id, Optional<String> zone) {

    /** The nodes of these ids, in this order, with their zones. Pure. */
    static List<ExpectedNode> of(List<String> ids, PoolObservation seen) {
        Map<String, String> hosts = hosts(seen);
        Map<String, ObservedNode> nodes = seen.nodes().stream().collect(Collectors.toMap(ObservedNode::name, n -> n));
        return ids.stream()
                .map(id -> new ExpectedNode(
                        id, Optional.ofNullable(hosts.get(id)).map(nodes::get).flatMap(ObservedNode::zone)))
                .toList();
    }

    /** Names of nodes of the cluster by storage node id. Where a perNode set will be is known before its pods exist. */
    private static Map<String, String> hosts(PoolObservation seen) {
        Map<String, String> hosts = new HashMap<>();
        for (StorageSetSpec set : seen.spec().storage()) {
            if (set.perNode() != null) {
                seen.nodes().forEach(node -> hosts.put(PoolNames.perNodeId(set.name(), node.name()), node.name()));
            }
        }
        seen.pods(PoolLabels.ROLE_STORAGE).forEach(pod -> hosts.put(pod.nodeId(), pod.node()));
        return hosts;
    }
}
