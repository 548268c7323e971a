// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.storage;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.child.part.NodePlacement;
import dev.kvpool.operator.pool.child.part.SegmentMemory;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What is done now about a storage set with a storage node on every matching Kubernetes node. Pure.
 *
 * <p>The masters expect a storage node on each matching node, and on each other one as long as a storage pod runs there, or what
 * one has left there in a directory of the node is not given up: an id leaves the list when its bytes are gone. Those nodes are
 * named in the DaemonSet, so that a label taken from a node ends no storage node by itself, and lets one come back that is away.
 *
 * @param nodeIds ids of the storage nodes the masters shall expect
 * @param placement where the set's pods may be
 * @param unwanted its storage nodes on nodes it does not select
 * @param waiting sentences about what is not done before storage nodes are empty
 * @param leftOut sentences about matching nodes that get no storage node
 */
record PerNodeSet(
        List<String> nodeIds,
        NodePlacement placement,
        List<Unwanted> unwanted,
        List<String> waiting,
        List<String> leftOut) {

    /** As long as the wire's node ids may be. */
    private static final int ID_BYTES_MAX = 253;

    /**
     * Decides.
     *
     * @param written directories of nodes that there may be
     * @param released ids of storage nodes that may go
     */
    static PerNodeSet of(StorageSetSpec set, PoolObservation seen, WrittenDirectories written, Set<String> released) {
        return new Decision(set, seen, written, released).decide();
    }

    /** What its nodes hold is still there when their pods have been replaced. */
    static boolean outlivesPods(PodTemplateSpec template) {
        return template.getSpec() != null
                && template.getSpec().getVolumes().stream()
                        .anyMatch(volume ->
                                volume.getName().equals(SegmentMemory.VOLUME) && volume.getHostPath() != null);
    }

    private static final class Decision {
        private final StorageSetSpec set;
        private final WrittenDirectories written;
        private final Set<String> released;
        private final NodeFit fit;
        private final boolean mayLoseBytes;
        private final List<ObservedPod> pods;

        /** Pods that have run, by the node they are on. */
        private final Map<String, ObservedPod> running;

        private final Map<String, ObservedNode> nodes;

        Decision(StorageSetSpec set, PoolObservation seen, WrittenDirectories written, Set<String> released) {
            this.set = set;
            this.written = written;
            this.released = released;
            this.fit = new NodeFit(set, seen.engineSpecs().of(set).hostNetwork());
            this.mayLoseBytes = seen.spec().onDataLoss().mayLoseBytes();
            this.pods = seen.podsOfSet(set.name(), true);
            this.running = pods.stream()
                    .filter(pod -> pod.started() && !pod.node().isEmpty())
                    .collect(Collectors.toMap(ObservedPod::node, Function.identity(), (a, b) -> a, TreeMap::new));
            this.nodes = seen.nodes().stream()
                    .collect(Collectors.toMap(ObservedNode::name, Function.identity(), (a, b) -> a, TreeMap::new));
        }

        PerNodeSet decide() {
            Set<String> matching = nodes.values().stream()
                    .filter(this::matches)
                    .map(ObservedNode::name)
                    .collect(Collectors.toCollection(TreeSet::new));
            List<String> tooLong = matching.stream()
                    .filter(node -> id(node).getBytes(StandardCharsets.UTF_8).length > ID_BYTES_MAX)
                    .toList();
            tooLong.forEach(matching::remove);
            Set<String> expected = new TreeSet<>(matching);
            Map<String, Unwanted> unselected = unselected();
            Map<String, Unwanted> unwanted = new TreeMap<>(unselected);
            unwanted.values().removeIf(written::isGivenUp);
            Set<String> kept = new TreeSet<>(running.keySet());
            kept.removeAll(unselected.keySet());
            kept.addAll(unwanted.keySet());
            kept.removeIf(node -> unwanted.containsKey(node) && released.contains(id(node)));
            expected.addAll(kept);
            return new PerNodeSet(
                    expected.stream().map(this::id).toList(),
                    new NodePlacement(mayLoseBytes ? List.of() : present(kept), tooLong),
                    List.copyOf(unwanted.values()),
                    waiting(unwanted),
                    tooLong.stream().map(this::tooLong).toList());
        }

        private boolean matches(ObservedNode node) {
            return fit.selects(node) && (running.containsKey(node.name()) ? fit.keeps(node) : fit.admits(node));
        }

        /** By the Kubernetes node they are on. On nodes that are gone nothing is left to be emptied. */
        private Map<String, Unwanted> unselected() {
            Set<String> may = new TreeSet<>(running.keySet());
            written.of(set).forEach(directory -> may.add(directory.node()));
            Map<String, Unwanted> unselected = new TreeMap<>();
            nodes.values().stream()
                    .filter(node -> may.contains(node.name()) && !fit.selects(node))
                    .map(ObservedNode::name)
                    .forEach(node -> unselected.put(
                            node,
                            new Unwanted(
                                    id(node),
                                    Optional.ofNullable(running.get(node)),
                                    set.volume().outlivesPods())));
            return unselected;
        }

        private List<String> waiting(Map<String, Unwanted> unwanted) {
            Map<String, Unwanted> staying = new TreeMap<>(unwanted);
            staying.values().removeIf(node -> released.contains(node.id()));
            return staying.isEmpty()
                    ? List.of()
                    : List.of(
                            "Storage set %s keeps its storage on %s, which it no longer selects, until that is empty.%s"
                                    .formatted(
                                            set.name(),
                                            NameList.of(List.copyOf(staying.keySet())),
                                            Unwanted.remedy(List.copyOf(staying.values()))));
        }

        private List<String> present(Set<String> names) {
            return names.stream().filter(nodes::containsKey).toList();
        }

        private String id(String node) {
            return PoolNames.perNodeId(set.name(), node);
        }

        private String tooLong(String node) {
            return ("Storage set %s has no storage node on Kubernetes node %s: the name %s would be longer than %d bytes."
                            + " Rename the set or the node.")
                    .formatted(set.name(), node, id(node), ID_BYTES_MAX);
        }
    }
}
