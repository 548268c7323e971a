// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.storage;

import dev.kvpool.operator.pool.child.StorageDaemonSet;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Storage nodes of perNode sets that the spec has no more, or in another form: those with a running pod, and those that are away
 * and may have left something in a directory of their node. Of a node that has left the cluster only a pod counts. Pure.
 */
final class RemovedPerNode {
    private final PoolObservation seen;
    private final WrittenDirectories written;

    /** Names of the Kubernetes nodes. */
    private final Set<String> nodes;

    RemovedPerNode(PoolObservation seen, WrittenDirectories written) {
        this.seen = seen;
        this.written = written;
        this.nodes = seen.nodes().stream().map(ObservedNode::name).collect(Collectors.toSet());
    }

    /** Those of a DaemonSet that shall go. */
    List<Unwanted> of(DaemonSet set) {
        String name = PoolObservation.setName(set);
        boolean outlivesPods = StoragePlan.outlivesPods(set);
        SortedMap<String, Unwanted> unwanted = new TreeMap<>();
        if (outlivesPods) {
            away(written.of(name, StorageDaemonSet.directories(set).orElse(List.of())))
                    .forEach(node -> unwanted.put(node.id(), node));
        }
        seen.podsOfSet(name, true).stream()
                .filter(ObservedPod::started)
                .forEach(pod -> unwanted.put(pod.nodeId(), Unwanted.of(pod, outlivesPods)));
        unwanted.values().removeIf(written::isGivenUp);
        return List.copyOf(unwanted.values());
    }

    /**
     * Those that no pod comes back for, since their DaemonSet was deleted.
     *
     * @param placed names of perNode sets that have one, or get it now
     */
    List<Unwanted> withoutDaemonSet(Set<String> placed) {
        Set<String> stored = seen.storageWorkloads(DaemonSet.class).stream()
                .map(PoolObservation::setName)
                .collect(Collectors.toSet());
        return away(written.known().stream()
                .filter(directory -> !placed.contains(directory.set()) && !stored.contains(directory.set()))
                .toList());
    }

    /** What those wait for that may not go yet. */
    static String waiting(List<Unwanted> staying) {
        return ("Storage set and DaemonSet of %s are gone, and what %s may hold is on a volume: it is emptied when the"
                        + " set is in the spec again, or removed without that after spec.drain.timeout if spec.drain.onLeftovers is"
                        + " Drop, or at once if spec.onDataLoss is Replace.")
                .formatted(
                        NameList.of(staying.stream().map(Unwanted::id).toList()), staying.size() == 1 ? "it" : "each");
    }

    private List<Unwanted> away(Collection<NodeDirectory> directories) {
        return directories.stream()
                .filter(directory -> nodes.contains(directory.node()))
                .map(NodeDirectory::id)
                .distinct()
                .sorted()
                .map(id -> new Unwanted(id, Optional.empty(), true))
                .filter(node -> !written.isGivenUp(node))
                .toList();
    }
}
